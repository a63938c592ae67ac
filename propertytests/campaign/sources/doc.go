// Package sources marks Go sources, so that a figure on record says which ones it is.
//
// Promises:
//   - Files with the same mark hold the same, up to a chance of 2^-32.
//   - The mark of a test covers all its sources in this module, except testdata and the lists of
//     mutants.
//
// Failures: a directory without Go files is an error: nothing is marked that is not there.
package sources
