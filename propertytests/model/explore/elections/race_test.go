//go:build race

package elections

const raceEnabled = true
