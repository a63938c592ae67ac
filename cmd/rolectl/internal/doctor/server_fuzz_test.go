package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzAccount: for any answer about the account, the doctor reports each limit at most once,
// reports an answer that it cannot read, and is never silent.
func FuzzAccount(f *testing.F) {
	for _, text := range []string{
		`{"memory":0,"storage":90,"streams":1,"consumers":9,"limits":{"max_memory":-1,"max_storage":100,"max_streams":-1,"max_consumers":10}}`,
		`{"storage":18446744073709551615,"limits":{"max_storage":1}}`, `{"streams":-1,"limits":{"max_streams":1}}`,
		`{"tiers":{"R1":{"storage":99,"limits":{"max_storage":100}},"R3":{"memory":1,"limits":{"max_memory":1}}}}`, `{"tiers":{"":{"storage":99}}}`,
		`{"error":{"code":503,"err_code":10039,"description":"JetStream not enabled for account"}}`, `{"limits":[]}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var x *examination
		heap.Bounded(t, len(data), func() {
			x = &examination{}
			x.account(data)
		})
		var a jetstream.AccountInfo
		read := inventory.ReadAnswer(data, &a) == nil
		if len(x.List) == 0 || len(x.List) > 4*(1+len(a.Tiers)) || !read && len(x.List) != 1 {
			t.Fatalf("%q: %+v", data, x.List)
		}
		said := map[string]bool{}
		for _, f := range x.List {
			if read && f.Level == findings.Unknown || !read && f.Level == findings.OK || said[f.Message] {
				t.Fatalf("%q: %+v", data, x.List)
			}
			said[f.Message] = true
		}
	})
}

// FuzzOlder: a version is older than another one exactly if its numbers say so, with any suffix. A
// text that is not a version is not older. A version that is older than another is older than all
// later ones.
func FuzzOlder(f *testing.F) {
	for _, v := range []string{
		"2.12.0", "2.11.9-RC.1", "2.9", "2.14.4+x", "v2.1.0", "", "2", ".", "2.", "-1.9.9", "+2.+1",
		" 2.1", "2.99999999999999999999.1", "2.14.x",
	} {
		f.Add(v, uint16(2), uint16(14), uint16(4), "-beta")
	}
	f.Add("", uint16(2), uint16(14), uint16(3), "")
	f.Add("", uint16(2), uint16(11), uint16(65535), ".1")
	f.Fuzz(func(t *testing.T, text string, major, minor, patch uint16, rest string) {
		var before bool
		heap.Bounded(t, len(text), func() { before = older(text, 2, 12, 0) })
		if before && (!strings.Contains(text, ".") || !older(text, 2, 14, 4) || !older(text, 3, 0, 0)) {
			t.Fatalf("%q is older than 2.12", text)
		}
		if rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '_') { // that would be another number
			return
		}
		if short := fmt.Sprint(major, ".", minor); older(short, 2, 12, 0) != (major < 2 || major == 2 && minor < 12) {
			t.Fatalf("%q is older than 2.12: %v", short, older(short, 2, 12, 0))
		}
		version := fmt.Sprint(major, ".", minor, ".", patch, rest)
		said := []int{int(major), int(minor), int(patch)}
		for _, than := range [][]int{
			{2, 12, 0},
			{2, 14, 4},
			said,
			{said[0], said[1], said[2] + 1},
			{said[0], said[1] + 1, 0},
			{said[0] + 1, 0, 0},
		} {
			if want := slices.Compare(said, than) < 0; older(version, than[0], than[1], than[2]) != want {
				t.Fatalf("%q is older than %v: %v, want %v", version, than, !want, want)
			}
		}
	})
}
