package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSystemdUnits: systemd takes the units. Their programs are replaced by one that is there.
func TestSystemdUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("the units must be tried: apt-get install systemd: ", err)
	}
	if err != nil {
		t.Skip("the units are not tried: systemd-analyze is in Debian's package systemd: ", err)
	}
	units, err := filepath.Glob("../systemd/*.service")
	if err != nil || len(units) != 3 {
		t.Fatal(units, err)
	}
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(t.TempDir(), filepath.Base(unit))
		tried := strings.ReplaceAll(string(text), "/usr/local/bin/", "/bin/true ")
		if tried == string(text) {
			t.Errorf("%s starts nothing", unit)
		}
		if err := os.WriteFile(at, []byte(tried), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--generators=no", at).CombinedOutput()
		if err != nil || strings.Contains(string(out), filepath.Base(unit)) {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}
