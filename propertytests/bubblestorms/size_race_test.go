//go:build race

package bubblestorms_test

// The race detector makes each hour ten times as long.
const (
	// stormHours is how many virtual hours the storms last together.
	stormHours = 2.0
	// stormLull is how long the quiet between them is, against what each shape says.
	stormLull = 0.05
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 0.3
)
