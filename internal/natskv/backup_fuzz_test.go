package natskv

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzBackup: a backup is read, or refused with a reason that names the fix. The bucket that is
// created from it is fit, marked as one that is being adopted, at home nowhere, and has a floor
// above the clock and above the last revision of the backup. Fields that this version does not know
// are kept.
func FuzzBackup(f *testing.F) {
	data, err := os.ReadFile("testdata/backup.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, change := range [][2]string{
		{`"KV_roles"`, `"KV_other"`},
		{`"KV_roles"`, `""`},
		{`"rolemanager.format":"2"`, `"rolemanager.format":"1"`},
		{`"rolemanager.format":"2"`, `"x":"2"`},
		{`"last_seq":`, `"last_seq":9`},
		{`"last_seq":`, `"last_seq":9999999999`},
		{`"allow_msg_ttl":true`, `"later_field":{"x":1}`},
		{`"limits"`, `"workqueue"`},
		{`"state":`, `"was":`},
		{`"rolemanager.max_ttl_ms":"90000"`, `"rolemanager.floor":"18446744073709551615"`},
		{`"last_ts":"`, `"last_ts":"0`},
		{`}`, ``},
	} {
		changed := strings.Replace(string(data), change[0], change[1], 1)
		if changed == string(data) {
			f.Fatalf("the backup has no %s", change[0])
		}
		f.Add([]byte(changed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var b *Backup
		var err error
		heap.Bounded(t, len(data), func() { b, err = ReadBackup("roles", data) })
		if err != nil {
			if unfit := (*UnfitError)(nil); !errors.Is(err, ErrNoBackup) && !errors.As(err, &unfit) {
				t.Fatalf("%v", err)
			}
			return
		}
		at := bucketPlace("roles", Reach{})
		cfg, err := b.marked(at)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var made jetstream.StreamInfo
		if err := json.Unmarshal(text, &made.Config); err != nil {
			t.Fatal(err)
		}
		m := made.Config.Metadata
		floor, err := strconv.ParseUint(m[metaFloor], 10, 64)
		_, home := m[metaCreated]
		if err != nil || !adopting(m[metaID]) || home || floor <= b.Last() || made.Config.FirstSeq != floor ||
			floor <= uint64(time.Now().UnixMicro()) {
			t.Fatalf("%s\nis created as\n%s", data, text)
		}
		if changes, lasting := repairs(at, &made); lasting || len(changes) > 0 {
			t.Fatalf("%s\nis created unfit as\n%s: %v", data, text, changes)
		}
		for key := range b.config {
			if _, kept := cfg[key]; !kept {
				t.Fatalf("%q is lost", key)
			}
		}
	})
}
