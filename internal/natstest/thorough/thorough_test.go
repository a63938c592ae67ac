package thorough

import "testing"

// TestOnly: what is left out runs when CI is set, and only then.
func TestOnly(t *testing.T) {
	for _, value := range []string{"", "true"} {
		t.Setenv("CI", value)
		ran := false
		t.Run("CI="+value, func(t *testing.T) {
			Only(t, "it is an example")
			ran = true
		})
		if asked := value != ""; ran != asked || Asked() != asked {
			t.Errorf("CI=%q: ran %v, asked %v", value, ran, Asked())
		}
	}
}
