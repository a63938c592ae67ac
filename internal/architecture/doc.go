// Package architecture holds the rules about who may import whom, as tests over `go list` and over the sources.
//
// Files: imports_test.go · pure_test.go · docs_test.go · examples_test.go.
package architecture
