// A figure of the guide becomes its run: the picture makes room for the page that simulates it.
"use strict";

const live_base = document.currentScript.src;

function begin_live(figure) {
  const frame = document.createElement("iframe"), theme = document.body.dataset.theme;
  frame.title = figure.querySelector("figcaption span").textContent.trim();
  frame.src = new URL(figure.dataset.live, live_base).href + (theme === "dark" || theme === "light" ? `#${theme}` : "");
  figure.querySelector(".live-picture").replaceChildren(frame);
  figure.querySelector("button").remove();
  figure.classList.add("running");
}

// A frame is as high as the page in it, which reports its height when that changes.
addEventListener("message", ({ data, source }) => {
  for (const frame of document.querySelectorAll("figure.live iframe"))
    if (frame.contentWindow === source && data?.subflow) frame.style.height = `${data.subflow.height}px`;
});

document.addEventListener("DOMContentLoaded", () => {
  for (const figure of document.querySelectorAll("figure.live")) {
    const button = figure.querySelector("button");
    button.hidden = false;
    button.addEventListener("click", () => begin_live(figure));
    figure.querySelector(".live-picture").addEventListener("click", () => figure.classList.contains("running") || begin_live(figure));
  }
});
