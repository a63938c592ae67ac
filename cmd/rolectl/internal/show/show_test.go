package show

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		line  string
		width int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"äöü!", 3, "äöü"},
		{"\x1b[31mabc\x1b[0m", 3, "\x1b[31mabc\x1b[0m"},
		{"\x1b[31mabcd\x1b[0m", 3, "\x1b[31mabc\x1b[0m"},
	} {
		if got, _ := cut(test.line, test.width); got != test.want {
			t.Errorf("%q to %d: %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

func TestTable(t *testing.T) {
	table := Table{
		Columns: []string{"NAME", "STATE"}, Wide: []string{"MORE"},
		Rows: []Row{
			{Name: "a", Cells: []string{"a", "fine"}, Wide: []string{"x"}},
			{Name: "long-name", Cells: []string{"long-name", ""}, Wide: []string{""}, Tone: Bad},
		},
	}
	for format, want := range map[string]string{
		"table": "NAME       STATE\na          fine\n\x1b[31mlong-name  -\x1b[0m\n",
		"wide":  "NAME       STATE  MORE\na          fine   x\n\x1b[31mlong-name  -      -\x1b[0m\n",
		"name":  "a\nlong-name\n",
	} {
		var out bytes.Buffer
		if err := (Printer{W: &out, Format: format, Color: true}).Print(table); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%q, want\n%q", format, err, out.String(), want)
		}
	}
}

func TestDistribution(t *testing.T) {
	var samples []time.Duration
	for i := range 100 {
		samples = append(samples, time.Duration(100-i)*time.Millisecond)
	}
	d := Distribute("x", samples)
	if d.Count != 100 || d.Min != 0.001 || d.P50 != 0.05 || d.P90 != 0.09 || d.P99 != 0.099 || d.Max != 0.1 {
		t.Errorf("%+v", d)
	}
	for _, samples := range [][]time.Duration{
		nil,
		{0},
		{time.Second},
		{time.Second, time.Second},
		{1, time.Hour},
		samples,
	} {
		var out bytes.Buffer
		d := Distribute("x", samples)
		if err := (Printer{W: &out}).Histogram(d); err != nil {
			t.Fatal(err)
		}
		total := 0
		for line := range strings.Lines(out.String()) {
			if fields := strings.Fields(line); len(fields) > 2 {
				n := 0
				for _, c := range fields[len(fields)-1] {
					n = 10*n + int(c-'0')
				}
				total += n
			}
		}
		if total != len(samples) {
			t.Errorf("%d samples, the bars count %d:\n%s", len(samples), total, out.String())
		}
	}
}

// TestFit: a table on a narrow terminal shortens its names in the middle, and then lacks columns
// that can be spared. Off a terminal, and with wide, it is whole.
func TestFit(t *testing.T) {
	table := Table{
		Columns: []string{"ROLE", "STATE", "LEADER", "EPOCH", "TTL"},
		Names:   []string{"ROLE", "LEADER"}, Spare: []string{"TTL", "EPOCH"},
		Rows: []Row{
			{Cells: []string{"billing-reports-of-tenant-00017", "leading", "worker-7c9f8d6b5-x2x9z", "123456789", "10s"}},
			{Cells: []string{"billing-reports-of-tenant-00018", "silent", "b", "", "10s"}},
		},
	}
	for _, c := range []struct {
		width        int
		format, want string
	}{
		{0, "table", "billing-reports-of-tenant-00017  leading  worker-7c9f8d6b5-x2x9z  123456789  10s"},
		{84, "table", "billing-reports-of-tenant-00017  leading  worker-7c9f8d6b5-x2x9z  123456789  10s"},
		{72, "table", "billing-rep…enant-00017  leading  worker-7c9f8d6b5-x2x9z  123456789  10s"},
		{66, "table", "billing-r…ant-00017  leading  worker-7c…d6b5-x2x9z  123456789  10s"},
		{50, "table", "billing…nt-00017  leading  worker-…b5-x2x9z"},
		{30, "table", "bill…0017  leading  work…x2x9z"},
		{20, "wide", "billing-reports-of-tenant-00017  leading  worker-7c9f8d6b5-x2x9z  123456789  10s"},
	} {
		var out bytes.Buffer
		if err := (Printer{W: &out, Format: c.format, Width: c.width}).Print(table); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		t.Logf("%d:\n%s", c.width, out.String())
		if lines[1] != c.want || strings.Contains(lines[0], "TTL") != strings.Contains(c.want, "10s") {
			t.Errorf("%d columns: %q, want %q", c.width, lines[1], c.want)
		}
	}
	if cells := table.Rows[0].Cells; len(cells) != 5 || cells[0] != "billing-reports-of-tenant-00017" {
		t.Errorf("the caller's table has changed: %q", cells)
	}
	for text, want := range map[string]string{"äöüß": "ä…ß", "abc": "abc", "": ""} {
		if got := Middle(text, 3); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
