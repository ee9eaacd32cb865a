"""Given names and surnames for people who don't exist, most frequent first."""

from __future__ import annotations


def _each(names: str) -> tuple[str, ...]:
    """The names of a text, one by one."""
    return tuple(names.split())


FEMALE = _each(
    "Maria Anna Emily Grace Olivia Sofia Hannah Laura Julia Clara Nora Alice Ruth Helen Irene Martha Rosa Eva Lucy "
    "Diana Amina Fatima Leila Mei Yuki Priya Anjali Chloe Zoe Naomi Esther Judith Carmen Elena Teresa Paula Sara Vera "
    "Ingrid Astrid Freya Maeve Siobhan Bridget Fiona Audrey Beatrice Cecilia Daphne Edith Florence Gloria Hazel Ivy "
    "Josephine Katherine Lillian Mabel Nadia Ophelia"
)

MALE = _each(
    "John David Daniel Thomas Samuel Peter Paul Lucas Noah Adam Henry George Martin Simon Oscar Victor Hugo Leo Max "
    "Felix Omar Ahmed Yusuf Wei Kenji Arjun Rohan Miguel Diego Carlos Luis Pedro Marco Luca Ivan Boris Erik Lars Sven "
    "Magnus Sean Patrick Callum Angus Arthur Benedict Conrad Desmond Edmund Frederick Gilbert Harold Isaac Jerome "
    "Kenneth Leonard Mortimer Nathan Otto Percival"
)

SURNAMES = _each(
    "Smith Garcia Johnson Lee Brown Nguyen Williams Martinez Jones Kim Davis Patel Miller Lopez Wilson Chen Anderson "
    "Khan Taylor Hernandez Thomas Moore Martin Singh Jackson Rivera Thompson White Harris Clark Lewis Robinson Walker "
    "Young Allen King Wright Scott Torres Hill Flores Green Adams Nelson Baker Hall Rossi Campbell Mitchell Carter "
    "Roberts Gomez Phillips Evans Turner Diaz Parker Cruz Edwards Collins Reyes Stewart Morris Morales Murphy Cook "
    "Rogers Gutierrez Ortiz Morgan Cooper Peterson Bailey Reed Kelly Howard Ramos Cox Ward Richardson Watson Brooks "
    "Chavez Wood Bennett Gray Mendoza Ruiz Hughes Price Alvarez Castillo Sanders Myers Long Ross Foster Jimenez Powell "
    "Jenkins Perry Russell Sullivan Bell Coleman Butler Henderson Barnes Fisher Vasquez Simmons Graham Murray Ford "
    "Castro Marshall Owens Harrison Wallace Woods Kennedy Hoffmann Lindqvist Okafor Mensah Tanaka Kowalski Petrov "
    "Haddad Novak Jansen Dubois Moreau Bianchi Silva Costa Larsen Nielsen Virtanen Papadopoulos Yilmaz Abebe Diallo "
    "Achterberg Zimmermann Quigley Underhill Featherstone"
)
