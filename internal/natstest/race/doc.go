// Package race tells a test whether the race detector is on, which makes it about ten times as
// slow.
//
// Files: on.go, off.go (one constant).
package race
