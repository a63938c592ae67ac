// Package draw says which of some tests a commit plays in CI. The command check and the tests ask
// it, so what is drawn for one stage is drawn for the others.
package draw

import (
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"strings"
)

// OneOf is of how many tests a seed draws one.
const OneOf = 4

// Key names the variable by which the command check tells tests what is drawn, and All is its value
// for all of them.
const Key, All = "THOROUGH", "all"

// Draws reports whether a seed draws a test. It is always the same for one seed, and with other
// seeds each test has its turn.
func Draws(seed, name string) bool {
	sum := sha256.Sum256([]byte(seed + "\n" + name))
	return sum[0]%OneOf == 0
}

// Turn is whose turn it is among so many that take turns by the hash of a seed.
func Turn(seed string, of int) int {
	sum := sha256.Sum256([]byte(seed))
	return int(binary.BigEndian.Uint64(sum[:]) % uint64(of))
}

// Value is that of the variable for a seed, and tests that are played though it does not draw them.
func Value(seed string, names []string) string {
	return strings.Join(append([]string{seed}, names...), " ")
}

// Program is the name of the program that go test builds of a package: a package is drawn by it.
func Program(pkg string) string { return path.Base(pkg) + ".test" }

// Plays reports whether a test is played, by the value of the variable. Without one all are.
func Plays(value, name string) bool {
	words := strings.Fields(value)
	if len(words) == 0 || words[0] == All {
		return true
	}
	return slices.Contains(words[1:], name) || Draws(words[0], name)
}
