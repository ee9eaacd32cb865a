CREATE MACRO pgc.version() AS getvariable('version');
CREATE MACRO pgc.current_database() AS getvariable('database');
CREATE MACRO pgc.current_schema() AS 'public';
CREATE MACRO pgc.current_schemas(implicit) AS CASE WHEN implicit THEN ['pg_catalog', 'public'] ELSE ['public'] END;
CREATE MACRO pgc.current_setting(asked, missing := true) AS (
    SELECT own_value FROM (SELECT name AS own_name, setting AS own_value FROM pgc.pg_settings) WHERE own_name = asked
);
CREATE MACRO pgc.array_upper(items, dimension) AS len(items);
CREATE MACRO pgc.array_lower(items, dimension) AS 1;
CREATE MACRO pgc.set_config(name, value, is_local) AS value;
CREATE MACRO pgc.pg_get_userbyid(role) AS (
    SELECT own_name FROM (SELECT oid AS own_oid, rolname AS own_name FROM pgc.pg_roles) WHERE own_oid = role
);
CREATE MACRO pgc.pg_table_is_visible(relation) AS true;
CREATE MACRO pgc.pg_type_is_visible(kind) AS true;
CREATE MACRO pgc.pg_function_is_visible(function) AS true;
CREATE MACRO pgc.pg_encoding_to_char(encoding) AS 'UTF8';
CREATE MACRO pgc.pg_client_encoding() AS 'UTF8';
CREATE MACRO pgc.pg_backend_pid() AS 0;
CREATE MACRO pgc.pg_is_in_recovery() AS false;
CREATE MACRO pgc.pg_postmaster_start_time() AS TIMESTAMP '2000-01-01 00:00:00';
CREATE MACRO pgc.pg_my_temp_schema() AS 0;
CREATE MACRO pgc.pg_is_other_temp_schema(namespace) AS false;
CREATE MACRO pgc.pg_get_expr(expression, relation, pretty := false) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_constraintdef(constraint_oid, pretty := false) AS (
    SELECT own_text FROM (SELECT oid AS own_oid, conbin AS own_text FROM pgc.pg_constraint) WHERE own_oid = constraint_oid
);
CREATE MACRO pgc.pg_get_indexdef(index_oid, col := 0, pretty := false) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_viewdef(view_oid, pretty := false) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_partkeydef(relation) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_triggerdef(trigger_oid, pretty := false) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_ruledef(rule_oid, pretty := false) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_statisticsobjdef_columns(statistics_oid) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_serial_sequence(relation, col) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_function_result(function) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_function_arguments(function) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_get_function_identity_arguments(function) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.pg_relation_is_publishable(relation) AS false;
CREATE MACRO pgc.pg_relation_size(relation, fork := '') AS 0;
CREATE MACRO pgc.pg_total_relation_size(relation) AS 0;
CREATE MACRO pgc.pg_table_size(relation) AS 0;
CREATE MACRO pgc.pg_indexes_size(relation) AS 0;
CREATE MACRO pgc.pg_database_size(database) AS 0;
CREATE MACRO pgc.pg_size_pretty(size) AS '0 bytes';
CREATE MACRO pgc.pg_tablespace_location(space) AS '';
CREATE MACRO pgc.pg_column_is_updatable(relation, col, triggers) AS false;
CREATE MACRO pgc.pg_relation_is_updatable(relation, triggers) AS 0;
CREATE MACRO pgc.quote_ident(said) AS
    CASE WHEN regexp_full_match(said, '[a-z_][a-z0-9_$]*') THEN said ELSE '"' || replace(said, '"', '""') || '"' END;
CREATE MACRO pgc._pg_put(pattern, value) AS CASE regexp_extract(pattern, '%([sI])', 1)
    WHEN 's' THEN regexp_replace(pattern, '%s', coalesce(CAST(value AS VARCHAR), ''))
    WHEN 'I' THEN regexp_replace(pattern, '%I', pgc.quote_ident(value)) ELSE pattern END;
CREATE MACRO pgc.pg_format(pattern, a) AS pgc._pg_put(pattern, a), (pattern, a, b) AS pgc._pg_put(pgc._pg_put(pattern, a), b);
CREATE MACRO pgc.parse_ident(said) AS string_split(replace(said, '"', ''), '.');
CREATE MACRO pgc.string_to_array(said, sign) AS TABLE SELECT string_split(said, sign) AS s;
CREATE MACRO pgc.quote_literal(said) AS '''' || replace(said, '''', '''''') || '''';
CREATE MACRO pgc.obj_description(object, catalogue := 'pg_class') AS (
    SELECT own_text FROM (SELECT objoid AS own_oid, description AS own_text FROM pgc.pg_description WHERE objsubid = 0)
    WHERE own_oid = object
);
CREATE MACRO pgc.col_description(relation, col) AS (
    SELECT own_text FROM (SELECT objoid AS own_oid, objsubid AS own_sub, description AS own_text FROM pgc.pg_description)
    WHERE own_oid = relation AND own_sub = col
);
CREATE MACRO pgc.shobj_description(object, catalogue) AS CAST(NULL AS VARCHAR);
CREATE MACRO pgc.has_table_privilege(a, b, c := '') AS true;
CREATE MACRO pgc.has_schema_privilege(a, b, c := '') AS true;
CREATE MACRO pgc.has_database_privilege(a, b, c := '') AS true;
CREATE MACRO pgc.has_column_privilege(a, b, c, d := '') AS true;
CREATE MACRO pgc.has_any_column_privilege(a, b, c := '') AS true;
CREATE MACRO pgc.has_function_privilege(a, b, c := '') AS true;
CREATE MACRO pgc.has_sequence_privilege(a, b, c := '') AS true;
CREATE MACRO pgc.pg_has_role(a, b, c := '') AS true;
CREATE MACRO pgc.aclexplode(list) AS unnest(
    CAST([] AS STRUCT(grantor UINTEGER, grantee UINTEGER, privilege_type VARCHAR, is_grantable BOOLEAN)[])
);
CREATE MACRO pgc.to_char(value, pattern) AS CASE WHEN value IS NULL THEN CAST(NULL AS VARCHAR) ELSE error('to_char') END;
CREATE MACRO pgc.pg_blocking_pids(process) AS CAST([] AS INTEGER[]);
CREATE MACRO pgc.row_security_active(relation) AS false;
CREATE MACRO pgc.to_regclass(said) AS (
    SELECT min(own_oid) FROM (
        SELECT own_c.oid AS own_oid, own_c.relname AS own_name, own_n.nspname || '.' || own_c.relname AS own_full
        FROM pgc.pg_class own_c JOIN pgc.pg_namespace own_n ON own_n.oid = own_c.relnamespace
    ) WHERE replace(said, '"', '') IN (replace(own_name, '"', ''), replace(own_full, '"', '')) OR CAST(own_oid AS VARCHAR) = said
);
CREATE MACRO pgc.to_regtype(said) AS (
    SELECT min(own_oid) FROM (SELECT oid AS own_oid, typname AS own_name FROM pgc.pg_type)
    WHERE own_name = replace(said, '"', '') OR CAST(own_oid AS VARCHAR) = said
);
CREATE MACRO pgc.to_regnamespace(said) AS (
    SELECT min(own_oid) FROM (SELECT oid AS own_oid, nspname AS own_name FROM pgc.pg_namespace) WHERE own_name = said
);
CREATE MACRO pgc.format_type(kind, modifier) AS (
    SELECT CASE own_name
        WHEN 'bool' THEN 'boolean' WHEN 'int8' THEN 'bigint' WHEN 'int4' THEN 'integer' WHEN 'int2' THEN 'smallint'
        WHEN 'float8' THEN 'double precision' WHEN 'float4' THEN 'real' WHEN 'bpchar' THEN 'character'
        WHEN 'varchar' THEN 'character varying' WHEN 'timestamp' THEN 'timestamp without time zone'
        WHEN 'timestamptz' THEN 'timestamp with time zone'
        WHEN 'numeric' THEN CASE WHEN coalesce(modifier, -1) < 4 THEN 'numeric'
            ELSE 'numeric(' || ((modifier - 4) >> 16) || ',' || ((modifier - 4) & 65535) || ')' END
        ELSE own_name END
    FROM (SELECT oid AS own_oid, typname AS own_name FROM pgc.pg_type) WHERE own_oid = kind
);
CREATE MACRO pgc._pg_expandarray(items) AS {'x': NULL, 'n': NULL};
CREATE MACRO pgc._pg_char_max_length(kind, modifier) AS CAST(NULL AS INTEGER);
CREATE MACRO pgc._pg_numeric_precision(kind, modifier) AS CAST(NULL AS INTEGER);
CREATE MACRO pgc._pg_numeric_scale(kind, modifier) AS CAST(NULL AS INTEGER);
CREATE MACRO pgc._pg_truetypid(a, b) AS a.atttypid;
CREATE MACRO pgc._pg_truetypmod(a, b) AS a.atttypmod;
CREATE MACRO pgc.pg_partition_ancestors(relation) AS TABLE SELECT CAST(NULL AS UINTEGER) AS relid WHERE false;
CREATE MACRO pgc.pg_partition_tree(relation) AS TABLE SELECT CAST(NULL AS UINTEGER) AS relid WHERE false;
CREATE MACRO pgc.pg_get_keywords() AS TABLE SELECT keyword_name AS word, 'R' AS catcode FROM duckdb_keywords() WHERE keyword_category = 'reserved';
CREATE MACRO pgc.pg_available_extensions() AS TABLE SELECT CAST(NULL AS VARCHAR) AS name, CAST(NULL AS VARCHAR) AS default_version, CAST(NULL AS VARCHAR) AS comment WHERE false;
CREATE MACRO pgc.pg_options_to_table(options) AS TABLE SELECT CAST(NULL AS VARCHAR) AS option_name, CAST(NULL AS VARCHAR) AS option_value WHERE false;
CREATE MACRO pgc.pg_show_all_settings() AS TABLE SELECT * FROM pgc.pg_settings;
CREATE MACRO pgc.pg_char_to_encoding(encoding) AS 6;
CREATE MACRO pgc.getdatabaseencoding() AS 'UTF8';
CREATE MACRO pgc.pg_collation_is_visible(object) AS true;
CREATE MACRO pgc.pg_conversion_is_visible(object) AS true;
CREATE MACRO pgc.pg_operator_is_visible(object) AS true;
CREATE MACRO pgc.pg_opclass_is_visible(object) AS true;
CREATE MACRO pgc.pg_opfamily_is_visible(object) AS true;
CREATE MACRO pgc.pg_statistics_obj_is_visible(object) AS true;
CREATE MACRO pgc.pg_ts_config_is_visible(object) AS true;
CREATE MACRO pgc.pg_ts_dict_is_visible(object) AS true;
CREATE MACRO pgc.pg_ts_parser_is_visible(object) AS true;
CREATE MACRO pgc.pg_ts_template_is_visible(object) AS true;
CREATE MACRO pgc.pg_lock_status() AS TABLE SELECT CAST(NULL AS VARCHAR) AS locktype WHERE false;
CREATE MACRO pgc.txid_current() AS 0
