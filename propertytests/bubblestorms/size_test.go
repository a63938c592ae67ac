//go:build !race

package bubblestorms_test

const (
	// stormHours is how many virtual hours the storms last together: most shapes for 5 to 20 hours, "short" for 9 minutes, a hundred
	// processes for 3 minutes, and a thousand roles for 9. The weather that it is then goes on to its calm.
	stormHours = 50.0
	// stormLull is how long the quiet between them is, against what each shape says.
	stormLull = 1.0
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 4.0
)
