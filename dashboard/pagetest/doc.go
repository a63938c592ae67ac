// Package pagetest tries the page of package dashboard in a real browser, on the real server. It is
// a module of its own, so that nobody else needs a driver for browsers.
//
//	make page
//
// It needs Chromium, and installs Debian's if there is none and the user is root. PAGE=off leaves
// these tests out, and says so; in CI they are never left out.
package pagetest
