// Package race tells a test whether the race detector is on, which makes it about ten times as
// slow.
package race
