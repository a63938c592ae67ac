package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// all holds one of every event, each with a Meta that the test can find again.
func all(m Meta) []Event {
	return []Event{
		RolePromoted{Meta: m},
		RoleDemoted{Meta: m},
		RoleDrained{Meta: m},
		RoleRotated{Meta: m},
		RoleJoined{Meta: m},
		RoleLeft{Meta: m},
		CandidatesChanged{Meta: m},
		LeaderChanged{Meta: m},
		RoleVacant{Meta: m},
		RoleStuck{Meta: m},
		WorkReturned{Meta: m},
		PromotionReturned{Meta: m},
		CallbackPanicked{Meta: m},
		SessionOpened{Meta: m},
		SessionLost{Meta: m},
		SessionClosed{Meta: m},
		Heartbeat{Meta: m},
		ConnectionChanged{Meta: m},
		MemberJoined{Meta: m},
		MemberLeft{Meta: m},
		SessionKilled{Meta: m},
		ClaimAttempted{Meta: m},
		FenceRejected{Meta: m},
		TokenValidated{Meta: m},
		RecordIgnored{Meta: m},
		Fault{Meta: m},
		Lagged{Meta: m},
		TaskSubmitted{Meta: m},
		TaskAssigned{Meta: m},
		TaskRejected{Meta: m},
		TaskCompleted{Meta: m},
		TaskReassigned{Meta: m},
		TaskStale{Meta: m},
		TaskStuck{Meta: m},
		TaskFenced{Meta: m},
		TaskRecovered{Meta: m},
		TaskProgress{Meta: m},
		TaskTicked{Meta: m},
		TaskGauges{Meta: m},
		DeadTasks{Meta: m},
		DeadTasksLeaving{Meta: m},
		FramesUnverified{Meta: m},
		SchedulerMissing{Meta: m},
	}
}

func TestEveryEventCarriesMeta(t *testing.T) {
	want := Meta{Time: time.Unix(1, 2), Bucket: "b", Instance: "i", Session: 3, Correlation: "c"}
	seen := map[string]bool{}
	for _, e := range all(want) {
		if got := MetaOf(e); got != want {
			t.Errorf("MetaOf(%T) = %+v, want %+v", e, got, want)
		}
		seen[Name(e)] = true
	}
	for _, name := range structs(t) {
		if !seen[name] && name != "Meta" {
			t.Errorf("struct %s is not an event, or is missing in this test's list", name)
		}
	}
}

func TestNil(t *testing.T) {
	if got := MetaOf(nil); got != (Meta{}) {
		t.Errorf("MetaOf(nil) = %+v", got)
	}
	if got := Name(nil); got != "" {
		t.Errorf("Name(nil) = %q", got)
	}
	if got := Name(&Lagged{}); got != "Lagged" {
		t.Errorf("Name of a pointer = %q", got)
	}
}

// A fencing token cannot reach a log by way of an event if no event has a field that could hold
// one.
func TestNoFieldForSecrets(t *testing.T) {
	for _, e := range all(Meta{}) {
		typ := reflect.TypeOf(e)
		for i := range typ.NumField() {
			if name := strings.ToLower(typ.Field(i).Name); strings.Contains(name, "token") || strings.Contains(name, "secret") {
				t.Errorf("%s.%s: events hold nothing secret", typ.Name(), typ.Field(i).Name)
			}
		}
	}
}

// structs lists the exported structs of the package's source.
func structs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.StructType); ok {
					names = append(names, spec.Name.Name)
				}
			}
			return true
		})
	}
	return names
}
