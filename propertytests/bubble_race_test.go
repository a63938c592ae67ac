//go:build race

package propertytests_test

const (
	// stormHours is how many virtual hours the storms last together: the race detector makes each ten times as long.
	stormHours = 2.0
	// stormLull is how long the quiet between them is, against what each shape says.
	stormLull = 0.05
)
