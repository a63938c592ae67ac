package permissions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

const roleSubject = "$KV.roles.c.role.scheduler"

// vacancy is a record that says that a has given its role up.
func vacancy() []byte {
	return record.Encode(record.Role{V: record.Version, Vacant: true, By: "a", TTLms: 1000})
}

// TestNobodyForgesARole: a user that may store a text of its own and read it again cannot have the
// answer stored as a role's record. A direct get would do that: its answer is the bare text, sent
// to where the request says. Nobody may make one, and none of our streams answers one.
func TestNobodyForgesARole(t *testing.T) {
	for _, by := range []struct{ user, key, stream string }{
		{"f", "$KV.ledger.forged", "KV_ledger"},
		{"w", "$KV.OBJ_TASKS_jobs.forged", "OBJ_TASKS_jobs"},
		{"owner", "$KV.ledger.forged", "KV_ledger"},
		{"owner", "$KV.OBJ_TASKS_jobs.forged", "OBJ_TASKS_jobs"},
		{"owner", "$KV.TASKS_jobs.q.forged", "TASKS_jobs"},
		{"owner", "$KV.roles.c.role.forged", "KV_roles"},
	} {
		t.Run(by.user+" "+by.stream, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				var heard denials
				v := leads(t, s, &heard)
				nc := as(t, s, by.user, &heard)
				if _, err := nc.Request(by.key, vacancy(), time.Second); err != nil {
					t.Fatal(err)
				}
				if err := nc.PublishRequest("$JS.API.DIRECT.GET."+by.stream+"."+by.key, roleSubject, nil); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // virtual: whatever comes of it has come
				if info, _ := v.seen.Role(scheduler); !v.term.Valid() || info.Epoch != v.term.Epoch() {
					t.Errorf("the role is %+v, and no longer a's", info)
				}
				if said := heard.all(t); (by.user != "owner") != strings.Contains(said, "DIRECT.GET") {
					t.Errorf("the server says: %q", said)
				}
			}, published(t))
		})
	}
}

// TestAConsumerCannotForgeARole: what a consumer delivers keeps its subject, so no stream takes it
// for its own, whether it is pushed there or asked for from there.
func TestAConsumerCannotForgeARole(t *testing.T) {
	for name, push := range map[string]bool{"push": true, "pull": false} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				var heard denials
				v := leads(t, s, &heard)
				f := as(t, s, "f", &heard)
				if _, err := f.Request("$KV.ledger.forged", vacancy(), time.Second); err != nil {
					t.Fatal(err)
				}
				if push {
					deliver(t, f, "KV_ledger", "$KV.ledger.forged", roleSubject)
				} else {
					deliver(t, f, "KV_ledger", "$KV.ledger.forged", "")
					if err := f.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.KV_ledger.forger", roleSubject, []byte("1")); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute) // virtual: whatever comes of it has come
				if info, _ := v.seen.Role(scheduler); !v.term.Valid() || info.Epoch != v.term.Epoch() {
					t.Errorf("the role is %+v, and no longer a's", info)
				}
			}, published(t))
		})
	}
}

// TestTwoLeadForALease: what is declared ended, by anybody who may write that, is ended for
// everybody but for a leader who cannot hear it. So a user that may end sessions, which is every
// candidate, and that may read by direct gets what he writes into any bucket of the account, can
// have a second one lead. It lasts until the first one's own clock ends its term, TTL - margin
// after its last acknowledged heartbeat; and the second one's epoch is the larger one, so fences
// refuse what the first one still does.
func TestTwoLeadForALease(t *testing.T) {
	for name, forge := range map[string]func(t *testing.T, s *natsrun.Server, heard *denials){
		"a candidate kills a session that lives": func(t *testing.T, s *natsrun.Server, heard *denials) {
			killed := record.Encode(record.Lease{V: record.Version, State: record.Killed, By: "b"})
			if _, err := as(t, s, "b", heard).Request("$KV.roles.c.lease.a", killed, time.Second); err != nil {
				t.Fatal(err)
			}
		},
		"a bucket of the account has direct gets": func(t *testing.T, s *natsrun.Server, heard *denials) {
			owner := as(t, s, "owner", heard) // for users that may write to that bucket and make them
			js, err := jetstream.New(owner)
			if err != nil {
				t.Fatal(err)
			}
			kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "plain"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := kv.Put(t.Context(), "forged", vacancy()); err != nil {
				t.Fatal(err)
			}
			if err := owner.PublishRequest("$JS.API.DIRECT.GET.KV_plain.$KV.plain.forged", roleSubject, nil); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settles(t)
				var heard denials
				owner := as(t, s, "owner", &heard)
				owns(t, owner)
				link := s.Link()
				ofA, ofZ := make(chan *election.Term, 16), make(chan *election.Term, 16)
				a := session(t, "a")
				open(t, a, as(t, s, "a", &heard, append(link.Options(), nats.ReconnectWait(50*time.Millisecond))...))
				campaign(t, a, election.RoleConfig{Role: scheduler, Lead: idle(ofA)})
				first := next(t, "a leads", ofA)
				z := session(t, "z")
				open(t, z, owner)
				campaign(t, z, election.RoleConfig{Role: scheduler, Lead: idle(ofZ)})
				time.Sleep(2 * time.Second) // z stands in line
				link.Hold(natsrun.Both)
				held := time.Now()
				forge(t, s, &heard)
				second := next(t, "z leads", ofZ)
				if !first.Valid() {
					t.Error("there were never two: the documents may promise more")
				}
				if second.Epoch() <= first.Epoch() {
					t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
				}
				for first.Valid() && second.Valid() {
					time.Sleep(time.Millisecond)
				}
				if both := time.Since(held); both > time.Second-200*time.Millisecond || !second.Valid() {
					t.Errorf("two led until %v after a could hear nothing more, and z's term is valid: %v", both, second.Valid())
				}
				link.Heal()
			}, published(t))
		})
	}
}
