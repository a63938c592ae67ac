// Package architecture holds the rules about imports, and about the quotations in documents, as
// tests over `go list` and over the sources.
//
// Files: imports_test.go · wings_test.go · pure_test.go · blocks_test.go, region_test.go · examples_test.go,
// multirole_test.go.
package architecture
