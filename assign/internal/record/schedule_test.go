package record

import (
	"testing"
	"time"
)

func ticks(t *testing.T, spec, zone string, since, from time.Time, n int) (all []string) {
	t.Helper()
	s, err := parseSchedule(spec, zone, since)
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	for range n {
		from = s.Next(from)
		all = append(all, from.UTC().Format("0102 1504:05"))
	}
	return all
}

func TestSchedules(t *testing.T) {
	since := time.Date(2026, 3, 28, 10, 7, 3, 500_000_000, time.UTC)
	for _, c := range []struct {
		spec, zone string
		from       time.Time
		want       []string
	}{
		{"*/15 * * * *", "", since, []string{"0328 1015:00", "0328 1030:00"}},
		{"@daily", "", since, []string{"0329 0000:00", "0330 0000:00"}},
		{"@daily", "Europe/Berlin", since, []string{"0328 2300:00", "0329 2200:00"}}, // 23 hours later
		// 2:30 is left out on the 29th
		{"30 2 * * *", "Europe/Berlin", since, []string{"0330 0030:00", "0331 0030:00"}},
		// and comes twice on the 25th
		{"30 2 * * *", "Europe/Berlin", since.AddDate(0, 7, -4), []string{"1025 0030:00", "1025 0130:00"}},
		// Sunday is 0 and 7.
		{"0 3 * * 7", "", since, []string{"0329 0300:00", "0405 0300:00"}},
		{"0 3 * * 6-7", "", since, []string{"0329 0300:00", "0404 0300:00", "0405 0300:00"}},
		{"0 3 * * 3-7/2", "", since, []string{"0329 0300:00", "0401 0300:00", "0403 0300:00"}},
		{"0 3 * * 1,7", "", since, []string{"0329 0300:00", "0330 0300:00", "0405 0300:00"}},
		// Counted from the definition, no matter who asks and when.
		{"@every 90m", "", since, []string{"0328 1137:03", "0328 1307:03"}},
		{"@every 90m", "", since.Add(100 * time.Minute), []string{"0328 1307:03", "0328 1437:03"}},
		{"@every 90m", "", since.Add(-time.Hour), []string{"0328 1007:03", "0328 1137:03"}}, // a clock was wrong
		{"@every 90m", "", since.Add(-180 * time.Minute), []string{"0328 0837:03"}},
		{"@every 1s", "", since, []string{"0328 1007:04", "0328 1007:05"}},
	} {
		got := ticks(t, c.spec, c.zone, since, c.from, len(c.want))
		for i, want := range c.want {
			if got[i] != want {
				t.Errorf("%s %s from %v: %v, want %v", c.spec, c.zone, c.from, got, c.want)
				break
			}
		}
	}
}

func TestInvalidSchedules(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""},
		{"* * * *", ""},
		{"61 * * * *", ""},
		{"@sometimes", ""},
		{"@every soon", ""},
		{"@every -5s", ""}, // would be every second, and so would the next two
		{"@every 0s", ""},
		{"@every 1ms", ""},
		{"@every 1500ms", ""},
		{"0 0 31 2 *", ""}, // never
		{"TZ=UTC * * * * *", ""},
		{"TZ=0", ""},
		{"CRON_TZ=UTC @daily", ""},
		{"@daily", "Mars/Olympus"},
		{"@daily", "Local"},
	} {
		if s, err := parseSchedule(c[0], c[1], time.Now()); err == nil {
			t.Errorf("%q in %q is %v", c[0], c[1], s)
		}
	}
}

// FuzzSchedule: an expression comes from anybody who may publish to the stream.
func FuzzSchedule(f *testing.F) {
	for _, spec := range []string{
		"* * * * *", "*/5 1-3,7 ? JAN-MAR SUN#2", "@every 1h", "@weekly", "TZ=0",
		"0-0/0 * * * *",
	} {
		f.Add(spec)
	}
	now := time.Date(2026, 3, 28, 10, 7, 3, 0, time.UTC)
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := parseSchedule(spec, "Europe/Berlin", now)
		if err != nil {
			return
		}
		if next := s.Next(now); !next.IsZero() && !next.After(now) {
			t.Errorf("%q: %v follows %v", spec, next, now)
		}
	})
}
