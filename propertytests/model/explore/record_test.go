package explore

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/sources"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

// searchRow is what a long run has seen of one configuration.
type searchRow struct {
	test, configuration string
	report              search.Report
}

var recordHead = []string{"search", "configuration", "states", "transitions", "depth", "whole", "landmarks", "sources"}

// texts are its cells. The last one marks the sources that were searched.
func (r searchRow) texts(searched string) []string {
	var landmarks []string
	for _, l := range r.report.Landmarks {
		landmarks = append(landmarks, fmt.Sprintf("%d %s", l.States, l.Name))
	}
	of, _, _ := strings.Cut(strings.TrimPrefix(r.test, "Test"), "/")
	return []string{
		strings.ToLower(of), r.configuration, strconv.Itoa(r.report.States), strconv.Itoa(r.report.Transitions),
		strconv.Itoa(r.report.Depth), strconv.FormatBool(r.report.Whole), strings.Join(landmarks, "; "), searched,
	}
}

// mark is of the sources as they are when it is asked for first: before the first search, which may
// take hours.
var mark = sync.OnceValues(func() (string, error) {
	module := os.DirFS("../../..")
	files, err := sources.Under(module, "propertytests/model/explore")
	if err != nil {
		return "", err
	}
	return sources.Mark(module, files)
})

// keep adds a row to the file.
func keep(t *testing.T, r searchRow) {
	t.Helper()
	searched, err := mark()
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
	_ = lines.Write(r.texts(searched))
	if lines.Flush(); lines.Error() != nil {
		t.Fatal(lines.Error())
	}
}

// TestRecord reads what long runs have left, the last of each configuration, and says what it comes
// to: each has been searched, those that end to their end, ten million states in all at least.
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
	last := map[string][]string{}
	for _, cells := range rows[1:] {
		last[cells[0]+" "+cells[1]] = cells
	}
	total := 0
	look := func(search string, names []string) {
		states, whole := 0, 0
		for _, name := range names {
			cells := last[search+" "+name]
			if cells == nil {
				t.Errorf("%s: %s has no row: search it with -explore.record explore.csv", search, name)
				continue
			}
			n, err := strconv.Atoi(cells[2])
			if err != nil {
				t.Errorf("%s: %s: %v", search, name, err)
			}
			if states += n; cells[5] == "true" {
				whole++
			} else if _, narrow := ending[name]; narrow {
				t.Errorf("%s: not all states of %s have been seen", search, name)
			}
		}
		t.Logf("%s: %d states in %d configurations, %d of them whole", search, states, len(names), whole)
		total += states
	}
	var ofElections, ofTasks, ofUnique []string
	for _, c := range Elections() {
		ofElections = append(ofElections, c.Name)
	}
	for _, c := range Tasks() {
		ofTasks = append(ofTasks, c.Name)
	}
	for _, c := range Unique() {
		ofUnique = append(ofUnique, c.Name)
	}
	look("elections", ofElections)
	look("tasks", ofTasks)
	look("unique", ofUnique)
	if total < 10_000_000 {
		t.Errorf("%d states in all", total)
	}
}
