// Package wording puts durations, numbers and lists into the words that rolectl and the page both
// use, and makes foreign text harmless for a terminal. It does no I/O.
package wording
