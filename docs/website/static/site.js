"use strict";

// What scrolls to the side can be scrolled by keys, and headings of the list at the side have a level.
function mend() {
  for (const box of document.querySelectorAll("pre, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
  for (const heading of document.querySelectorAll(".caption[role=heading]")) heading.ariaLevel = "2";
  const labels = { ".sidebar-drawer": "All pages", ".toc-drawer": "On this page" };
  for (const [selector, label] of Object.entries(labels)) {
    for (const aside of document.querySelectorAll(selector)) aside.ariaLabel = label;
  }
}

window.addEventListener("load", mend);
window.addEventListener("resize", mend);
