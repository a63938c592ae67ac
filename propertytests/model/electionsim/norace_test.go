//go:build !race

package electionsim

const raceEnabled = false
