// The parts of a browser that the JavaScript modules need, for tests in Node: a small document,
// storage, and a clock that the test moves. Chromium tests the same modules in real pages
// (tests/e2e). Here each rule is tested separately, in any order of events.

import { webcrypto } from "node:crypto";
import { registerHooks } from "node:module";
import { mock } from "node:test";

const { subtle } = globalThis.crypto;
// Pages that came over plain HTTP have no `randomUUID`.
const PLAIN_CRYPTO = { subtle, getRandomValues: (bytes) => webcrypto.getRandomValues(bytes) };
const MODULES = new URL("../../static/js/", import.meta.url);
let worlds = 0;

// Modules keep their state at the top level, so each `openBrowser` starts a world with its own copies. A
// module has the number of its world in its address, and passes it on to the modules that it imports.
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const query = context.parentURL?.startsWith(MODULES.href) ? new URL(context.parentURL).search : "";
    if (!found.url.startsWith(MODULES.href)) return found;
    return { ...found, url: found.url + query, format: "module" };
  },
});

// Import a module, such as "shared/jobs", with new state after each `openBrowser`. A name
// without a folder is a module of the room.
export function load(name) {
  const path = name.includes("/") ? name : `annotation/judging/${name}`;
  return import(new URL(`${path}.js?world=${worlds}`, MODULES));
}

// --- Events and elements ----------------------------------------------------------------------

export class Target {
  listeners = [];

  addEventListener(type, act, { once = false, signal = null } = {}) {
    const listener = { type, act, once };
    this.listeners.push(listener);
    signal?.addEventListener("abort", () => this.drop(listener));
  }

  drop(listener) {
    this.listeners = this.listeners.filter((other) => other !== listener);
  }

  hear(event) {
    for (const listener of this.listeners.filter(({ type }) => type === event.type)) {
      if (listener.once) this.drop(listener);
      listener.act(event);
    }
  }

  // Send an event, which rises through the elements around this one. Returns the event.
  fire(type, properties = {}) {
    const event = {
      type,
      target: this,
      isPrevented: false,
      preventDefault() {
        this.isPrevented = true;
      },
      getModifierState: () => false,
      ...properties,
    };
    for (let at = this; at; at = at.parent) at.hear(event);
    return event;
  }
}

class Style {
  setProperty(name, value) {
    this[name] = value;
  }
}

class Element extends Target {
  attributes = new Map();
  children = [];
  className = "";
  dataset = new Proxy({}, { set: (data, name, value) => Reflect.set(data, name, String(value)) });
  disabled = false;
  hidden = false;
  open = false;
  parent = null;
  style = new Style();
  text = "";
  value = "";

  constructor(tag) {
    super();
    this.tagName = tag.toUpperCase();
  }

  get textContent() {
    return this.text + this.children.map((child) => child.textContent ?? child).join("");
  }

  set textContent(text) {
    this.children = [];
    this.text = String(text);
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  hasAttribute(name) {
    return this.attributes.has(name);
  }

  removeAttribute(name) {
    if (name.startsWith("data-")) delete this.dataset[camel(name)];
    else this.attributes.delete(name);
  }

  append(...children) {
    this.children.push(...this.adopt(children));
  }

  prepend(...children) {
    this.children.unshift(...this.adopt(children));
  }

  replaceChildren(...children) {
    this.children = this.adopt(children);
  }

  remove() {
    const siblings = this.parent?.children ?? [];
    if (siblings.includes(this)) siblings.splice(siblings.indexOf(this), 1);
    this.parent = null;
  }

  replaceWith(other) {
    const { parent } = this;
    parent.adopt([other]);
    parent.children[parent.children.indexOf(this)] = other;
    this.parent = null;
  }

  before(...others) {
    const { parent } = this;
    parent.adopt(others);
    parent.children.splice(parent.children.indexOf(this), 0, ...others);
  }

  after(...others) {
    const { parent } = this;
    parent.adopt(others);
    parent.children.splice(parent.children.indexOf(this) + 1, 0, ...others);
  }

  get nextElementSibling() {
    return this.parent.children[this.parent.children.indexOf(this) + 1] ?? null;
  }

  contains(other) {
    for (let at = other; at; at = at.parent) if (at === this) return true;
    return false;
  }

  adopt(children) {
    for (const child of children.filter((one) => one instanceof Element)) {
      child.remove();
      child.parent = this;
    }
    return children;
  }

  matches(selector) {
    return selector.split(",").some((one) => this.matchesOne(one.trim()));
  }

  // Supports tag names, ids, classes, attributes and :popover-open. The modules use nothing else.
  matchesOne(selector) {
    const parts = selector.match(/\[[^\]]+\]|[:#]?[\w.-]+/g);
    return parts.every((part) => {
      if (part.startsWith("#")) return this.id === part.slice(1);
      if (part === ":popover-open") return this.isPopoverOpen === true;
      if (part.startsWith("[")) return this.hasMatching(part.slice(1, -1));
      if (part.startsWith(".")) return this.className.split(" ").includes(part.slice(1));
      return this.tagName === part.toUpperCase();
    });
  }

  hasMatching(condition) {
    const [name, wanted] = condition.replaceAll('"', "").split("=");
    if (name === "open") return this.open;
    const found = name.startsWith("data-") ? this.dataset[camel(name)] : this.getAttribute(name);
    return wanted === undefined ? (found ?? null) !== null : found === wanted;
  }

  closest(selector) {
    for (let at = this; at instanceof Element; at = at.parent) if (at.matches(selector)) return at;
    return null;
  }

  get all() {
    return this.children.flatMap((child) => (child instanceof Element ? [child, ...child.all] : []));
  }

  querySelectorAll(selector) {
    return this.all.filter((element) => element.matches(selector));
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  get classList() {
    const classes = new Set(this.className.split(" ").filter(Boolean));
    const toggle = (name, isOn) => {
      classes[isOn ? "add" : "delete"](name);
      this.className = [...classes].join(" ");
    };
    return {
      contains: (name) => classes.has(name),
      toggle,
      add: (name) => toggle(name, true),
      remove: (name) => toggle(name, false),
    };
  }

  focus() {
    document.activeElement = this;
  }

  blur() {
    if (document.activeElement === this) document.activeElement = document.body;
  }

  click() {
    if (!this.disabled) this.fire("click", { detail: 1 });
  }

  showModal() {
    this.open = true;
  }

  close() {
    this.open = false;
    this.fire("close");
  }

  scrollIntoView() {}

  // Nothing is drawn.
  getBoundingClientRect() {
    return { top: 0, bottom: 0 };
  }

  setPointerCapture() {}

  hidePopover() {
    this.isPopoverOpen = false;
  }
}

for (const name of ["hidden", "label", "pressed", "selected", "sort"]) {
  Object.defineProperty(Element.prototype, `aria${name[0].toUpperCase()}${name.slice(1)}`, {
    get() {
      return this.getAttribute(`aria-${name}`);
    },
    set(value) {
      if (value === null) this.removeAttribute(`aria-${name}`);
      else this.setAttribute(`aria-${name}`, value);
    },
  });
}

// A video whose frames are shown when the test requests it.
class Video extends Element {
  currentTime = 0;
  error = null;
  paused = true;
  playbackRate = 1;
  readyState = 0;
  videoWidth = 0;
  videoHeight = 0;
  waiting = [];

  get src() {
    return this.getAttribute("src") ?? "";
  }

  set src(url) {
    this.setAttribute("src", url);
    this.load();
  }

  // Loading pauses the video without an event. A position that was set while nothing was loaded stays.
  load() {
    if (this.readyState > 0) this.currentTime = 0;
    this.readyState = 0;
    this.error = null;
    this.paused = true;
    this.playbackRate = 1;
  }

  // The video cannot be loaded, so the browser pauses it.
  fail() {
    this.error = {};
    this.fire("error");
    this.pause();
  }

  async play() {
    this.paused = false;
    this.fire("play");
  }

  pause() {
    if (this.paused) return;
    this.paused = true;
    this.fire("pause");
  }

  requestVideoFrameCallback(act) {
    this.waiting.push(act);
  }

  // Load the video and decode the first frame. With a width of 0 it has only sound.
  arrive({ width = 640 } = {}) {
    this.readyState = 4;
    this.videoWidth = width;
    this.videoHeight = width && 360;
    this.fire("loadeddata");
    if (!this.paused) this.fire("playing");
  }

  // Show the frame of this time in the video.
  showFrame(mediaTime = 0) {
    const acts = this.waiting;
    this.waiting = [];
    for (const act of acts) act(0, { mediaTime, expectedDisplayTime: performance.now() });
  }
}

class Picture extends Element {
  constructor() {
    super("img");
  }

  async decode() {}
}

function camel(name) {
  return name.slice("data-".length).replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());
}

// Make an element: h("button", { "data-part": "undo" }, ...children).
export function h(tag, attributes = {}, ...children) {
  const element = tag === "video" ? new Video(tag) : new Element(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name === "id") element.id = value;
    else if (name === "hidden") element.hidden = true;
    else if (name.startsWith("data-")) element.dataset[camel(name)] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

class Document extends Target {
  activeElement = null;
  cookie = "";
  hidden = false;

  constructor() {
    super();
    this.body = h("body");
    this.body.parent = this;
  }

  get parent() {
    return window;
  }

  createElement(tag) {
    return h(tag);
  }

  getElementById(id) {
    return this.body.all.find((element) => element.id === id) ?? null;
  }

  querySelector(selector) {
    return this.body.querySelector(selector);
  }

  querySelectorAll(selector) {
    return this.body.querySelectorAll(selector);
  }

  setHidden(hidden) {
    this.hidden = hidden;
    this.fire("visibilitychange");
  }
}

// --- Storage ----------------------------------------------------------------------------------

class Storage {
  items = new Map();

  getItem(key) {
    return this.items.get(key) ?? null;
  }

  setItem(key, value) {
    this.items.set(key, String(value));
  }
}

// One object store per database, as in the room. Requests succeed in a later task.
class IndexedDB {
  databases = new Map();

  open(name) {
    const isNew = !this.databases.has(name);
    if (isNew) this.databases.set(name, new Map());
    return request(new Database(this.databases.get(name)), isNew ? ["upgradeneeded"] : []);
  }
}

class Database {
  constructor(records) {
    this.records = records;
  }

  createObjectStore() {}

  transaction() {
    return { objectStore: () => this };
  }

  getAll() {
    // A real store returns the records in the order of their random keys.
    return request(structuredClone([...this.records.values()].toReversed()));
  }

  put(record) {
    this.records.set(record.client_key, structuredClone(record));
  }

  delete(key) {
    this.records.delete(key);
  }
}

function request(result, before = []) {
  const made = new Target();
  made.result = result;
  setImmediate(() => [...before, "success"].forEach((type) => made.fire(type)));
  return made;
}

// The storage that remains on a machine when a page is closed.
export function newMachine() {
  return { localStorage: new Storage(), sessionStorage: new Storage(), indexedDB: new IndexedDB() };
}

// --- The server and the browser -----------------------------------------------------------------

// A server with a response for each address: `server.on("/claim/", (body) => ({ status, body, headers }))`.
// An address without a response cannot be reached. `calls` are all requests, in order.
export class FakeServer {
  handlers = new Map();
  calls = [];

  on(url, handler) {
    this.handlers.set(url, handler);
  }

  callsOf(url) {
    return this.calls.filter((call) => call.url === url).map((call) => call.body);
  }

  async fetch(url, { headers = {}, body = null } = {}) {
    const call = { url, headers, body: body && JSON.parse(body) };
    this.calls.push(call);
    const handler = this.handlers.get(url);
    if (!handler) throw new TypeError("network");
    return new Answer(await handler(call.body));
  }
}

// A response with immediate content. Reading a response of Node takes an unknown time.
class Answer {
  constructor({ status = 200, body = {}, headers = {} }) {
    Object.assign(this, { status, body, headers: new Headers(headers) });
    this.ok = status < 300;
  }

  async json() {
    return structuredClone(this.body);
  }

  async text() {
    return this.body;
  }

  async blob() {
    return new Blob([]);
  }
}

// A new window. Pass the `machine` of an earlier one for a reload, or for another tab.
export function openBrowser({ machine = newMachine(), now = Date.UTC(2026, 0, 1) } = {}) {
  worlds += 1;
  channels.splice(0).forEach((channel) => channel.close());
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now });
  const server = new FakeServer();
  const replaced = {
    ...machine,
    window: new Target(),
    HTMLMediaElement: { HAVE_CURRENT_DATA: 2, HAVE_FUTURE_DATA: 3 },
    BroadcastChannel: Channel,
    Image: Picture,
    location: { href: "https://hearth.example/judge/", origin: "https://hearth.example" },
    navigator: { onLine: true },
    fetch: (url, options) => server.fetch(url, options),
    matchMedia: () => ({ matches: false }),
    getComputedStyle: () => ({ direction: "ltr" }),
    requestAnimationFrame: (act) => act(),
    crypto: PLAIN_CRYPTO,
  };
  for (const [name, value] of Object.entries(replaced)) define(name, value);
  define("document", new Document());
  performance.now = () => Date.now();
  return { machine, server };
}

function define(name, value) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

// The BroadcastChannel of Node. Its instances must not keep the process alive or outlive the window.
const NodeChannel = globalThis.BroadcastChannel;
const channels = [];

class Channel extends NodeChannel {
  constructor(name) {
    super(name);
    this.unref();
    channels.push(this);
  }
}

// Run all tasks that do not wait for the clock.
export async function settle() {
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

// Move the clock by this number of milliseconds.
export async function pass(ms) {
  await settle();
  mock.timers.tick(ms);
  await settle();
}
