package draw

import (
	"strconv"
	"testing"
)

// TestEachHasItsTurn: a seed draws the same tests always, and over some seeds each is drawn.
func TestEachHasItsTurn(t *testing.T) {
	const seeds = 300
	for _, name := range []string{"TestA", "TestB", "TestAStreamIsFull"} {
		n := 0
		for seed := range seeds {
			is := Draws(strconv.Itoa(seed), name)
			if Draws(strconv.Itoa(seed), name) != is {
				t.Errorf("seed %d draws %s, and then does not", seed, name)
			}
			if is {
				n++
			}
		}
		if n < seeds/OneOf/2 || n > seeds/OneOf*2 {
			t.Errorf("%d seeds of %d draw %s", n, seeds, name)
		}
	}
}

// TestTurn: a seed gives the turn to the same one always, and over some seeds each has it about as
// often.
func TestTurn(t *testing.T) {
	const seeds, of = 600, 6
	var times [of]int
	for seed := range seeds {
		turn := Turn(strconv.Itoa(seed), of)
		if again := Turn(strconv.Itoa(seed), of); again != turn {
			t.Errorf("seed %d: %d, and then %d", seed, turn, again)
		}
		times[turn]++
	}
	for turn, n := range times {
		if n < seeds/of/2 || n > seeds/of*2 {
			t.Errorf("%d has %d of %d turns", turn, n, seeds)
		}
	}
}

// TestPlays: without a value, and with that for all, every test is played. With a seed those are
// that it draws, and those that are named.
func TestPlays(t *testing.T) {
	const name = "TestA"
	for _, value := range []string{"", All} {
		if !Plays(value, name) {
			t.Errorf("%s=%s leaves out %s", Key, value, name)
		}
	}
	drawn := 0
	for seed := range 100 {
		seed := strconv.Itoa(seed)
		for _, others := range [][]string{nil, {"TestAB"}} {
			if Plays(Value(seed, others), name) != Draws(seed, name) {
				t.Errorf("seed %s draws %s: %v; beside %v it is played otherwise", seed, name, Draws(seed, name), others)
			}
		}
		if Draws(seed, name) {
			drawn++
		}
		if !Plays(Value(seed, []string{"TestB", name}), name) {
			t.Errorf("seed %s: %s is named, and left out", seed, name)
		}
	}
	if drawn == 0 || drawn == 100 {
		t.Errorf("%d seeds of 100 draw it: that proves nothing", drawn)
	}
}
