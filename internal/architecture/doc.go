// Package architecture holds the rules about who may import whom, as a test over `go list`.
//
// File: imports_test.go.
package architecture
