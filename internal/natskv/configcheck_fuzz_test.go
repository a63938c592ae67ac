package natskv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzVersion: a server reports any version. It is too old only for a reason that is told. A true
// version is too old exactly below 2.12, with any suffix, and never when it follows one that is new
// enough.
func FuzzVersion(f *testing.F) {
	for _, v := range []string{
		"2.12.0", "2.11.9-RC.1", "2.9", "3.0", "1.4.1", "0.0", "v2.1", "", "2", ".", "2.", "-1.99",
		"+2.+1", "2.0x1", "2.1_2", " 2.1", "2\n.1", "2.99999999999999999999", "99999999999999999999.1", "2.12\x1b[31m",
	} {
		f.Add(v, uint16(2), uint16(12), ".0-beta")
	}
	for _, v := range [][2]uint16{{2, 11}, {2, 12}, {1, 99}, {3, 0}, {0, 12}, {65535, 65535}} {
		f.Add("", v[0], v[1], "")
		f.Add("", v[0], v[1], "-x")
	}
	f.Fuzz(func(t *testing.T, version string, major, minor uint16, rest string) {
		var told string
		if most := mayAllocate(len(version)); heap.Took(most, func() { told = tooOld(version) }) > most {
			t.Errorf("more than %d bytes for %d", most, len(version))
		}
		if told != "" &&
			(!strings.Contains(told, version) || !strings.Contains(told, "2.12") ||
				!strings.ContainsAny(version, "0123456789")) {
			t.Fatalf("%q: %s", version, told)
		}
		if rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '_') { // that would be another number
			return
		}
		old := func(major, minor int) bool { return tooOld(fmt.Sprint(major, ".", minor, rest)) != "" }
		if want := major < 2 || major == 2 && minor < 12; old(int(major), int(minor)) != want {
			t.Fatalf("%d.%d%s: too old %v, want %v", major, minor, rest, !want, want)
		}
		if !old(int(major), int(minor)) && (old(int(major), int(minor)+1) || old(int(major)+1, 0)) {
			t.Fatalf("what comes after %d.%d%s is too old", major, minor, rest)
		}
	})
}

// FuzzMetadata: the metadata of a stream hold any texts. The longest TTL is what they give in
// milliseconds, or they give none. A format is known only as the number that is ours, and an
// earlier one is told apart. After a repair, what the repair wrote is read as it was meant, what
// is not ours is unchanged, and nothing is missing. Checking this takes memory in proportion to
// the input.
func FuzzMetadata(f *testing.F) {
	for _, text := range []string{
		"60000", "1", "0", "-1", "+5", "007", "1e3", " 1", "1.5", "9223372036854775807",
		"9223372036854", "9223372036855", "9223372036854775808", "", "x",
	} {
		f.Add(true, text, true, "1", "made-by", "ops")
		f.Add(true, "120000", true, text, metaMaxTTL+" ", "7")
	}
	f.Add(false, "", true, "1", "", "")
	f.Add(true, "60000", false, "", metaFormat, "2")
	f.Add(true, "60000", true, "1", metaID, "x")
	f.Add(true, "60000", true, "1", metaID, "")
	complete := against(f, map[string]string{metaFormat: "1", metaMaxTTL: "60000", metaID: "x"}, nil)
	known := against(f, nil, map[string]string{metaFormat: strconv.Itoa(formatVersion + 1)})
	f.Fuzz(func(t *testing.T, timed bool, ms string, formatted bool, format, key, value string) {
		s := withMetadata(map[string]string{key: value})
		if timed {
			s.Config.Metadata[metaMaxTTL] = ms
		}
		if formatted {
			s.Config.Metadata[metaFormat] = format
		}
		given := len(s.Config.Metadata)
		if most := mayAllocate(len(ms) + len(format) + len(key) + len(value)); heap.Took(most, func() {
			_, _ = known.fit("b", s), complete.fit("b", s)
			_, _ = complete.repair(s)
		}) > most {
			t.Errorf("more than %d bytes for %q", most, s.Config.Metadata)
		}
		text, there := s.Config.Metadata[metaMaxTTL]
		d, ok := maxTTL(&s.Config)
		n, err := strconv.ParseInt(text, 10, 64)
		if says := there && err == nil && n > 0 && n <= math.MaxInt64/int64(time.Millisecond); ok != says ||
			ok && d.Milliseconds() != min(n, MostMaxTTL.Milliseconds()) {
			t.Fatalf("%q is read as %v, %v", text, d, ok)
		}
		text, there = s.Config.Metadata[metaFormat]
		if n, err := strconv.Atoi(text); known.fit("b", s) != (!there || err == nil && n == formatVersion) {
			t.Fatalf("format %q: known %v", text, known.fit("b", s))
		} else if earlier := earlierFormat(s); (earlier > 0) != (err == nil && 0 < n && n < formatVersion) ||
			earlier > 0 && (earlier != n || len(faults(place{bucket: "b"}, s, "")) != 1) {
			t.Fatalf("format %q: an earlier one, %d", text, earlier)
		}
		if complete.fit("b", s) != (ok && there && s.Config.Metadata[metaID] != "") {
			t.Fatalf("%q fits: %v", s.Config.Metadata, complete.fit("b", s))
		}
		_, v := complete.repair(s)
		fixed := withMetadata(v.(map[string]string))
		if d, ok := maxTTL(&fixed.Config); !complete.fit("b", fixed) || !ok || d != longestTTL(s) {
			t.Fatalf("%q is repaired to %q: %v, %v", s.Config.Metadata, fixed.Config.Metadata, d, ok)
		}
		for k, before := range s.Config.Metadata {
			if after := fixed.Config.Metadata[k]; k != metaMaxTTL && after != before && (k != metaID || before != "") {
				t.Fatalf("%q was %q and is %q", k, before, after)
			}
		}
		if len(s.Config.Metadata) != given {
			t.Fatalf("what was looked at has changed: %q", s.Config.Metadata)
		}
	})
}

func withMetadata(m map[string]string) *jetstream.StreamInfo {
	return &jetstream.StreamInfo{Config: jetstream.StreamConfig{Metadata: m}}
}

// against is the rule that accepts the one metadata and rejects the other.
func against(t testing.TB, taken, not map[string]string) (found rule) {
	t.Helper()
	n := 0
	for _, r := range rules {
		if r.fit("b", withMetadata(taken)) && !r.fit("b", withMetadata(not)) {
			found = r
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d rules tell %q from %q, want 1", n, taken, not)
	}
	return found
}
