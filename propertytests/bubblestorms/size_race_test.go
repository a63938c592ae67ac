//go:build race

package bubblestorms_test

// The race detector makes each hour ten times as long.
const (
	// stormHours is how many virtual hours the storms last together: most shapes for 12 to 50 minutes, "short" and a thousand roles
	// for 22 seconds, and a hundred processes for 7. The weather that it is then goes on to its calm: so the last two have as a rule
	// one stretch of it, of 3 to 12 faults with up to three TTLs after each.
	stormHours = 2.0
	// stormLull is how long the quiet between them is, against what each shape says.
	stormLull = 0.05
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 0.3
)
