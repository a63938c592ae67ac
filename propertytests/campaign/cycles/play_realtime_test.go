//go:build realtime

package cycles

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealtimePart: what a real test says is read, and a line is of the product; one that fails is
// counted as such; one that is interrupted leaves no line, and neither does one that there is not.
func TestRealtimePart(t *testing.T) {
	t.Chdir("../../..") // the root of the module
	dir := t.TempDir()
	p := player{path: filepath.Join(t.TempDir(), "cycles.csv")}
	if err := p.build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	torn := test{"TestRealtimeTornTail", elections}
	for range 2 {
		if _, err := p.next(t.Context(), torn, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.next(t.Context(), torn, 0, 0); err == nil ||
		!strings.Contains(err.Error(), "is not a number of cycles") {
		t.Errorf("a test that has failed: %v", err)
	}
	if _, err := p.next(t.Context(), test{"TestNothing", elections}, 0, 1); err == nil {
		t.Error("a test that there is not was played")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.next(stopped, torn, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted part: %v", err)
	}
	lines, err := table(p.path).Read()
	if err != nil || len(lines) != 3 {
		t.Fatalf("%v, %v, want three lines", lines, err)
	}
	now := p.present[elections]
	if l := lines[0]; l.test != torn.name || l.cycles != 1 || l.product != now.mark || l.commit != now.commit ||
		!strings.Contains(l.counted, "4 servers killed") {
		t.Errorf("%+v, of %v", l, now)
	}
	if s, err := total(lines, torn.name, now.mark); err != nil || s.cycles != 2 ||
		!strings.Contains(s.String(), "1 parts failed: ROLEMANAGER_CYCLES: ") {
		t.Errorf("%v, %v, want two cycles, and one part that has failed", s, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("beside the tests there is %v, %v", left, err)
	}
}
