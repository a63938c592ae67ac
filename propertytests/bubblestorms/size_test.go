//go:build !race

package bubblestorms_test

const (
	// stormHours is how many virtual hours the storms last together.
	stormHours = 50.0
	// stormLull is how long the quiet between them is, against what each shape says.
	stormLull = 1.0
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 4.0
)
