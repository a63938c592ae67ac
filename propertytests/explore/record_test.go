package explore

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/explore/search"
	"github.com/rolemanager/rolemanager/propertytests/sources"
)

// row is what a long run has seen of one configuration.
type row struct {
	test, configuration string
	report              search.Report
}

var recordHead = []string{"search", "configuration", "states", "transitions", "depth", "whole", "landmarks", "sources"}

// texts are its cells. The last one marks the sources that were searched.
func (r row) texts(mark string) []string {
	var landmarks []string
	for _, l := range r.report.Landmarks {
		landmarks = append(landmarks, fmt.Sprintf("%d %s", l.States, l.Name))
	}
	of, _, _ := strings.Cut(strings.TrimPrefix(r.test, "Test"), "/")
	return []string{
		strings.ToLower(of), r.configuration, strconv.Itoa(r.report.States), strconv.Itoa(r.report.Transitions),
		strconv.Itoa(r.report.Depth), strconv.FormatBool(r.report.Whole), strings.Join(landmarks, "; "), mark,
	}
}

// keep adds a row to the file.
func keep(t *testing.T, r row) {
	t.Helper()
	module := os.DirFS("../..")
	files, err := sources.Under(module, "propertytests/explore")
	if err != nil {
		t.Fatal(err)
	}
	mark, err := sources.Mark(module, files)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(*record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := csv.NewWriter(file)
	if at, err := file.Seek(0, 2); err == nil && at == 0 {
		_ = lines.Write(recordHead)
	}
	_ = lines.Write(r.texts(mark))
	if lines.Flush(); lines.Error() != nil {
		t.Fatal(lines.Error())
	}
}

// TestRecord reads what the long run has left, and says what it comes to: every configuration is there once, with no fewer than
// ten million states in all.
func TestRecord(t *testing.T) {
	file, err := os.Open("explore.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Equal(rows[0], recordHead) {
		t.Fatalf("explore.csv: %v; it begins with %q, want %q", err, rows[:min(1, len(rows))], recordHead)
	}
	var names []string
	for _, c := range Elections() {
		names = append(names, "elections "+c.Name)
	}
	for _, c := range Tasks() {
		names = append(names, "tasks "+c.Name)
	}
	states, whole := map[string]int{}, map[string]int{}
	for _, cells := range rows[1:] {
		name := cells[0] + " " + cells[1]
		at := slices.Index(names, name)
		if at < 0 {
			t.Errorf("%s is no configuration, or has two rows", name)
			continue
		}
		names = slices.Delete(names, at, at+1)
		n, err := strconv.Atoi(cells[2])
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		states[cells[0]] += n
		if cells[5] == "true" {
			whole[cells[0]]++
		}
	}
	for _, name := range names {
		t.Errorf("%s has no row", name)
	}
	t.Logf("%d states of elections, %d configurations whole; %d of tasks, %d whole",
		states["elections"], whole["elections"], states["tasks"], whole["tasks"])
	if total := states["elections"] + states["tasks"]; total < 10_000_000 {
		t.Errorf("%d states in all", total)
	}
}
