package dashboard

import (
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// shown is the data of each screen, by the name of its template.
var shown = map[string]any{
	"now": &nowData{}, "role": &roleData{}, "members": &membersData{}, "tasks": &tasksData{}, "task": &taskData{},
	"dead": &deadData{}, "groups": &groupsData{}, "group": &groupData{}, "recurrences": &recurrencesData{},
	"doctor": &doctorData{}, "happenings": &eventsData{},
}

// filled makes every text in a value hostile, every list two long, and every bool what is given.
func filled(v reflect.Value, yes bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(yes)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*assign.SealedError]() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), yes)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			filled(v.Index(i), yes)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key, yes)
		filled(value, yes)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1e9, 0)))
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				filled(v.Field(i), yes)
			}
		}
	}
}

// TestHostileNames: whatever any field of a screen holds, it stays text. That is so for names which
// no record should have, too: another program may write records.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), func(_ *nats.Conn, o *Options) {
		o.Steer = func(*http.Request) (string, bool) { return hostile, true }
		o.Title, o.Log = hostile, slog.New(slog.DiscardHandler)
	})
	for _, screen := range screens {
		data := shown[screen.name()]
		if data == nil {
			t.Errorf("the screen %s is not tried", screen.name())
			continue
		}
		for _, yes := range []bool{true, false} {
			filled(reflect.ValueOf(data).Elem(), yes)
			p := &picture{at: time.Unix(1e9, 0), watched: time.Unix(1e9, 0), bucket: hostile, ended: hostile}
			query := url.Values{}
			for _, key := range screen.asks {
				query.Set(key, hostile)
			}
			root, err := s.h.draw(screen, p, query, data)
			if err != nil {
				t.Errorf("%s: %v", screen.name(), err)
				continue
			}
			still(t, screen.name(), string(root.html(nil)))
			if !strings.Contains(string(root.html(nil)), "&lt;img src=x onerror") {
				t.Errorf("%s shows nothing of it", screen.name())
			}
		}
	}
	form := url.Values{"do": {"requeue-all"}, "n": {hostile}, "kind": {hostile}, "prefix": {hostile}}
	still(t, "the question", s.get("/act?"+form.Encode(), http.StatusOK))
	_, body := s.post("alice", nil, form)
	still(t, "the refusal", body)
	still(t, "what was not found", s.get("/role?name="+url.QueryEscape(hostile), http.StatusNotFound))
	still(t, "the events", s.get("/events", http.StatusOK))
}

// exact are attributes that are not shown, and hold names as they are.
var exact = regexp.MustCompile(` (id|value|data-view)="[^"]*"`)

// still fails the test if hostile text is more than text.
func still(t *testing.T, where, body string) {
	t.Helper()
	body = exact.ReplaceAllString(body, "")
	for _, bad := range []string{"<img", `"'` + "\x1b", "\x1b", "\u202e", "\x00"} {
		if at := strings.Index(body, bad); at >= 0 {
			t.Errorf("%s holds %q: …%s", where, bad, body[max(at-200, 0):min(at+80, len(body))])
		}
	}
}
