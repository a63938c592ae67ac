// Package guides holds the code that the pages of docs/guides quote, one file for each page, and
// the tests that run it against a real server. It imports public packages only, so all of it can be
// copied.
package guides
