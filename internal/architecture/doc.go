// Package architecture holds the rules about imports, and about the quotations in documents, as
// tests over `go list` and over the sources.
package architecture
