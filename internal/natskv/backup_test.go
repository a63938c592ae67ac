package natskv

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRemake: a bucket that is missing is created with the configuration of its backup, as "nats
// stream backup" has written it. It is marked: nobody opens it, and everybody is told why. A bucket
// that is there is left as it is.
func TestRemake(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		data, err := os.ReadFile("testdata/backup.json")
		if err != nil {
			t.Fatal(err)
		}
		b, err := ReadBackup("roles", data)
		if err != nil {
			t.Fatal(err)
		}
		owner := (Reach{}).Owner(nc, "roles")
		for _, want := range []bool{true, false} {
			if made, err := owner.Remake(t.Context(), b); err != nil || made != want {
				t.Fatalf("created: %t, want %t; %v", made, want, err)
			}
			if _, err := Open(t.Context(), nc, "roles"); !errors.Is(err, ErrAdopting) {
				t.Errorf("it opens with %v, want %v", err, ErrAdopting)
			}
		}
		a, err := owner.Adopt(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		floor, err := a.Purge(t.Context())
		if err != nil || floor <= b.Last() {
			t.Errorf("floor %d, %v; the backup ends with %d", floor, err, b.Last())
		}
		if _, err := a.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, err := Open(t.Context(), nc, "roles")
		if err != nil {
			t.Fatal(err)
		}
		state, err := again.Inspect(t.Context())
		if err != nil || again.MaxTTL() != 90*time.Second || state.Keys != 0 || state.Undescribed || state.Copied != nil ||
			state.FirstSeq != floor {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

// TestNotABackup: what is not a backup of the bucket is refused, and the reason names the fix.
func TestNotABackup(t *testing.T) {
	data, err := os.ReadFile("testdata/backup.json")
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[[2]string]string{
		{`"KV_roles"`, `"KV_other"`}: "under its own name",
		{`"config":`, `"was":`}:      "nats stream backup",
		{`{`, ``}:                    "cannot be read",
		{`"rolemanager.format":"2"`, `"made-by":"ops"`}:          "nats stream restore",
		{`"rolemanager.format":"2"`, `"rolemanager.format":"3"`}: "upgrade this program",
		{`"rolemanager.format":"2"`, `"rolemanager.format":"1"`}: "rolectl bucket create roles",
		{`"last_seq":`, `"last_seq":900`}:                        "impossible revision",
	} {
		changed := strings.Replace(string(data), change[0], change[1], 1)
		if changed == string(data) {
			t.Fatalf("the backup has no %s", change[0])
		}
		b, err := ReadBackup("roles", []byte(changed))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s for %s: %v, %v; want %q", change[1], change[0], b, err, want)
		}
	}
}
