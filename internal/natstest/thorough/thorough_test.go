package thorough

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// TestOnly: what is left out runs when CI is set, and only then.
func TestOnly(t *testing.T) {
	t.Setenv(draw.Key, "")
	for _, value := range []string{"", "true"} {
		t.Setenv("CI", value)
		if asked := value != ""; ran(t) != asked || Asked() != asked {
			t.Errorf("CI=%q: ran %v, asked %v", value, !asked, Asked())
		}
	}
}

// TestPick: the larger size where CI is set, and the commit draws this package or names it.
func TestPick(t *testing.T) {
	met := map[bool]bool{}
	size := map[bool]int{false: 1, true: 2}
	for seed := range 30 {
		seed := strconv.Itoa(seed)
		drawn := draw.Draws(seed, draw.Program("any/thorough"))
		met[drawn] = true
		for value, larger := range map[string]bool{
			"": true, draw.All: true, draw.Value(seed, nil): drawn, draw.Value(seed, []string{"thorough.test"}): true,
		} {
			t.Setenv(draw.Key, value)
			t.Setenv("CI", "true")
			if got := Pick(1, 2); got != size[larger] {
				t.Errorf("%s=%q: %d, want %d", draw.Key, value, got, size[larger])
			}
			t.Setenv("CI", "")
			if Pick(1, 2) != 1 {
				t.Errorf("%s=%q: without CI it is the larger size", draw.Key, value)
			}
		}
	}
	if len(met) < 2 {
		t.Errorf("drawn were %v: that proves nothing", met)
	}
}

// TestOnlyWhatIsDrawn: where a commit draws, a test runs if it is drawn or named, by the name of
// the whole test. Without CI the draw makes nothing run.
func TestOnlyWhatIsDrawn(t *testing.T) {
	met := map[bool]bool{}
	for seed := range 30 {
		seed := strconv.Itoa(seed)
		drawn := draw.Draws(seed, t.Name())
		met[drawn] = true
		t.Setenv("CI", "true")
		t.Setenv(draw.Key, draw.Value(seed, nil))
		if ran(t) != drawn {
			t.Errorf("seed %s draws it: %v; it ran: %v", seed, drawn, !drawn)
		}
		for _, value := range []string{"", draw.All, draw.Value(seed, []string{"TestOther", t.Name()})} {
			t.Setenv(draw.Key, value)
			if !ran(t) {
				t.Errorf("%s=%s: it did not run", draw.Key, value)
			}
		}
		t.Setenv("CI", "")
		if ran(t) {
			t.Errorf("%s is set, and without CI it ran", draw.Key)
		}
	}
	if len(met) < 2 {
		t.Errorf("drawn were %v: that proves nothing", met)
	}
}

// ran reports whether a part of this test runs that is left out otherwise.
func ran(t *testing.T) (is bool) {
	t.Run(strings.ReplaceAll(t.Name(), "/", "-"), func(t *testing.T) {
		Only(t, "it is an example")
		is = true
	})
	return is
}
