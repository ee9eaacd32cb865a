// Search needs a worker. Browsers start none for a page that is opened from the disk: there a frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.scope = this.frame.contentWindow;
      const inside = this.scope.document;
      inside.open();
      this.scope.postMessage = (data) => {
        const said = new MessageEvent("message", { data: structuredClone(data) });
        this.dispatchEvent(said);
        this.onmessage?.(said);
      };
      this.begun = new Promise((begun) => { this.scope.begun = begun; });
      const script = inside.createElement("script");
      script.src = new URL(url, location.href).href;
      script.setAttribute("onload", "begun()");
      inside.write(script.outerHTML);
      inside.close();
    }
    postMessage(data) {
      const copy = structuredClone(data);
      this.begun.then(() => this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data: copy })));
    }
    terminate() { this.frame.remove(); }
  };
}
