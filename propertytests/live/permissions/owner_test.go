package permissions_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/adoption"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// ofAnOwner reads the grants that docs/reference/permissions.md gives after a text.
func ofAnOwner(t *testing.T, after string) (grants []string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/reference/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), after+"\n\n```text\n")
	block, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatalf("there is no block after %q", after)
	}
	for _, subject := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(block, -1) {
		grants = append(grants, subject[1])
	}
	return grants
}

// TestMovingAndAdopting: the published grants suffice to say where a bucket is, which is what a
// move does, and to adopt it under a candidate and a worker. Without any of them it fails, or the
// server complains. Flow control is used under load only.
func TestMovingAndAdopting(t *testing.T) {
	for name, c := range map[string]struct {
		after string
		do    func(t *testing.T, nc *nats.Conn) error
	}{
		"move": {
			"To move:",
			func(t *testing.T, nc *nats.Conn) error {
				owner := (natskv.Reach{}).Owner(nc, bucket)
				_, moved := owner.Move(within(t, time.Minute), natskv.Place{Tags: []string{"ssd"}})
				_, here := owner.Here(within(t, time.Minute))
				if moved != nil && !strings.Contains(moved.Error(), "move bucket") { // one server has no other place
					t.Errorf("move: %v", moved)
				}
				return here
			},
		},
		"adopt": {"To adopt:", func(t *testing.T, nc *nats.Conn) error {
			_, err := adoption.Run(within(t, time.Minute), adoption.Config{Conn: nc, Bucket: bucket})
			return err
		}},
	} {
		grants := ofAnOwner(t, c.after)
		for i := -1; i < len(grants); i++ {
			some, title := grants, name
			if i >= 0 {
				if strings.HasPrefix(grants[i], "$JS.FC.") {
					continue
				}
				some, title = slices.Delete(slices.Clone(grants), i, i+1), name+" without "+grants[i]
			}
			t.Run(title, func(t *testing.T) {
				natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
					settles(t)
					var heard, others denials
					busy(t, s, &others)
					err := c.do(t, as(t, s, "m", &heard))
					said := heard.all(t)
					if suffice := err == nil && said == ""; suffice != (i < 0) {
						t.Errorf("%v; the server complains: %q", err, said)
					}
				}, owned(some))
			})
		}
	}
}

// owned is a server with an owner, who may do everything, and the user m.
func owned(grants []string) func(*natsrun.Options) {
	return func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users = []*server.User{{Username: "owner", Password: "x"}, {
				Username: "m", Password: "x", Permissions: &server.Permissions{
					Publish:   &server.SubjectPermission{Allow: grants},
					Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_m.>"}},
				},
			}}
		}
	}
}

// busy makes the bucket, with a candidate that leads and a worker. Both end when it is adopted.
func busy(t *testing.T, s *natsrun.Server, heard *denials) {
	t.Helper()
	nc := as(t, s, "owner", heard)
	if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket, MaxTTL: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	a, w := session(t, "a"), session(t, "w", workerOnly)
	for _, each := range []*election.Session{a, w} {
		if err := each.Open(within(t, time.Minute), nc); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := each.Close(ctx); err != nil && !errors.Is(err, election.ErrClosed) {
				t.Logf("close: %v", err)
			}
		})
	}
	terms := make(chan *election.Term, 16)
	campaign(t, a, election.RoleConfig{Role: metrics, Lead: idle(terms)})
	next(t, "a leads", terms)
}

// TestRestoring: with the published grants a bucket that is missing is restored. Without the one
// that restoring needs beyond adopting it is not, and the error names it.
func TestRestoring(t *testing.T) {
	adopts, creates := ofAnOwner(t, "To adopt:"), ofAnOwner(t, "To restore a bucket that is missing, the same and:")
	for name, grants := range map[string][]string{"all": slices.Concat(adopts, creates), "no creation": adopts} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settles(t)
				var heard, others denials
				owner := as(t, s, "owner", &others)
				if _, err := natskv.Create(t.Context(), owner, natskv.Config{Bucket: bucket, MaxTTL: 2 * time.Second}); err != nil {
					t.Fatal(err)
				}
				m, err := owner.Request("$JS.API.STREAM.SNAPSHOT.KV_"+bucket, []byte(`{"deliver_subject":"nowhere"}`), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				backup, err := natskv.ReadBackup(bucket, m.Data)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := owner.Request("$JS.API.STREAM.DELETE.KV_"+bucket, nil, time.Minute); err != nil {
					t.Fatal(err)
				}
				_, err = adoption.Run(within(t, time.Minute), adoption.Config{
					Conn: as(t, s, "m", &heard), Bucket: bucket, Backup: backup,
				})
				if said := heard.all(t); name == "all" && (err != nil || said != "") {
					t.Errorf("%v; the server complains: %q", err, said)
				}
				denied := (*natskv.PermissionError)(nil)
				if name != "all" && (!errors.As(err, &denied) || denied.Subject != creates[0]) {
					t.Errorf("%v, want one that names %s", err, creates[0])
				}
			}, owned(grants))
		})
	}
}
