package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestCreateMakesAFitBucket(t *testing.T) {
	_, nc, b := newBucket(t)
	before := time.Now()
	again, err := Open(t.Context(), nc, "b")
	if err != nil {
		t.Fatalf("open what Create made: %v", err)
	}
	if again.Name() != "b" || again.Stream() != "KV_b" || again.MaxTTL() != DefaultMaxTTL || again.Replicas() != 1 ||
		again.Volatile() {
		t.Errorf("opened %+v", again)
	}
	if i := again.Identity(); !i.Same(b.Identity()) || i.ID == "" || i.Created.After(before.Add(time.Minute)) {
		t.Errorf("identity %v and %v", b.Identity(), i)
	}
	s, err := b.Inspect(t.Context())
	if err != nil {
		t.Fatalf("inspect: %v", err)
	}
	if s.LastSeq+1 != s.FirstSeq || s.FirstSeq < lowestRevision || s.Keys != 0 || len(s.Faults) > 0 {
		t.Errorf("state %+v", s)
	}
	if d := time.Since(time.UnixMicro(int64(s.FirstSeq))).Abs(); d > time.Minute {
		t.Errorf("the first revision is %v away from now", d)
	}
	// Creating it a second time opens it, and its own configuration counts.
	third, err := Create(t.Context(), nc, Config{Bucket: "b", MaxTTL: time.Hour})
	if err != nil || third.MaxTTL() != DefaultMaxTTL {
		t.Errorf("create again: %+v, %v", third, err)
	}
}

func TestRevisionsIncreaseOverDeletion(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	first := mustWin(t, w, Write{Key: "k"})
	deleteBucket(t, nc, "b")
	if _, err := Create(t.Context(), nc, Config{Bucket: "b"}); err != nil {
		t.Fatalf("create again: %v", err)
	}
	if second := mustWin(t, w, Write{Key: "k"}); second <= first {
		t.Errorf("revision %d after %d", second, first)
	}
}

func TestConcurrentCreators(t *testing.T) {
	s := startServer(t, nil)
	const creators = 8
	buckets := make([]*Bucket, creators)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range creators {
		nc := connect(t, s.ClientURL())
		all.Go(func() {
			<-start
			b, err := Create(within(t), nc, Config{Bucket: "b"})
			if err != nil {
				t.Errorf("creator %d: %v", i, err)
			}
			buckets[i] = b
		})
	}
	close(start)
	all.Wait()
	for _, b := range buckets {
		if b != nil && !b.Identity().Created.Equal(buckets[0].Identity().Created) {
			t.Errorf("two buckets: created %v and %v", buckets[0].Identity().Created, b.Identity().Created)
		}
	}
}

func TestOpenWithoutABucketPrintsTheCommand(t *testing.T) {
	s := startServer(t, nil)
	_, err := Open(t.Context(), connect(t, s.ClientURL()), "nope")
	var missing *NotFoundError
	if !errors.Is(err, ErrBucketNotFound) || !errors.As(err, &missing) || !Permanent(err) {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "rolectl bucket create nope") {
		t.Errorf("%q does not say how to make it", err)
	}
}

func TestCommand(t *testing.T) {
	got := Command(Config{Bucket: "b", Replicas: 3, Storage: jetstream.MemoryStorage, MaxTTL: time.Hour})
	if want := "rolectl bucket create b --replicas 3 --storage memory --max-ttl 1h0m0s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCreateRejectsNonsense(t *testing.T) {
	_, err := Create(t.Context(), nil, Config{Bucket: "a.b", Replicas: 9, MaxTTL: time.Millisecond})
	for _, want := range []string{`invalid bucket name "a.b"`, "replicas 9", "maximal TTL 1ms"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not mention %q", err, want)
		}
	}
}

// The bucket is made by the jetstream package, with every possible fault. Its metadata say that it
// was meant to be one of ours.
func TestOpenNamesAllFaultsAndRepairsWhatItCan(t *testing.T) {
	s := startServer(t, nil)
	nc := connect(t, s.ClientURL())
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{
		Bucket: "b", History: 5, TTL: time.Hour, Metadata: map[string]string{metaFormat: strconv.Itoa(formatVersion)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.PutString(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), nc, "b")
	var unfit *UnfitError
	if !errors.As(err, &unfit) || !Permanent(err) {
		t.Fatalf("got %v, want an UnfitError", err)
	}
	for _, want := range []string{
		"FirstSeq", "MaxAge", "history", "AllowMsgTTL", "SubjectDeleteMarkerTTL",
		"AllowAtomicPublish", "metadata",
	} {
		if !slices.ContainsFunc(unfit.Faults, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("no fault mentions %s:\n%v", want, err)
		}
	}
	for _, f := range unfit.Faults {
		if !strings.Contains(f, "rolectl bucket") {
			t.Errorf("fault without a fix: %s", f)
		}
	}
	// FirstSeq cannot be repaired, so Repair touches nothing.
	changed, err := Repair(t.Context(), nc, "b")
	if len(changed) > 0 || !errors.As(err, &unfit) {
		t.Errorf("repair: changed %v, %v", changed, err)
	}
}

// TestAnOrdinaryBucketIsLeftAlone: somebody keeps data in a KV bucket. Each judgement of it is that
// it is not ours. It names the command that makes another one, and never one that repairs, removes
// or purges this one; and nothing that is asked of us changes it.
func TestAnOrdinaryBucketIsLeftAlone(t *testing.T) {
	s := startServer(t, nil)
	nc := connect(t, s.ClientURL())
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []jetstream.KeyValueConfig{
		{Bucket: "plain"},
		{Bucket: "set", History: 5, TTL: time.Hour, Metadata: map[string]string{"mine": "yes"}},
	} {
		kv, err := js.CreateKeyValue(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.PutString(t.Context(), "k", "v"); err != nil {
			t.Fatal(err)
		}
		_, opened := Open(t.Context(), nc, cfg.Bucket)
		_, created := Create(t.Context(), nc, Config{Bucket: cfg.Bucket})
		_, repaired := Repair(t.Context(), nc, cfg.Bucket)
		_, adopted := Reach{}.Owner(nc, cfg.Bucket).Adopt(t.Context(), nil)
		_, described := Reach{}.Owner(nc, cfg.Bucket).Here(t.Context())
		want := `bucket "` + cfg.Bucket + `" is unfit: it is an ordinary KV bucket, was not made for rolemanager, and cannot be ` +
			`converted: create another one with "rolectl bucket create NAME"`
		for does, err := range map[string]error{
			"open": opened, "create": created, "repair": repaired, "adopt": adopted, "describe": described,
		} {
			if !errors.Is(err, ErrOrdinary) || !Permanent(err) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v", does, err)
			}
		}
		state, err := Inspect(t.Context(), nc, cfg.Bucket)
		if err != nil || !state.Ordinary || len(state.Faults) != 1 || !strings.HasSuffix(want, state.Faults[0]) {
			t.Errorf("judged: %+v, %v", state, err)
		}
		if e, err := kv.Get(t.Context(), "k"); err != nil || string(e.Value()) != "v" || e.Revision() != 1 {
			t.Errorf("what it kept: %v, %v", e, err)
		}
	}
}

// TestNobodyIsToldToDeleteWhatIsNotOurs: a stream that may be anybody's has a fault that no repair
// corrects.
func TestNobodyIsToldToDeleteWhatIsNotOurs(t *testing.T) {
	hub, err := NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	s := jetstream.StreamInfo{
		Config: jetstream.StreamConfig{Name: "KV_b", PersistMode: jetstream.AsyncPersistMode},
		State:  jetstream.StreamState{LastSeq: lowestRevision},
	}
	found := strings.Join(faults(bucketPlace("b", hub), &s, ""), "\n")
	if ordinary(&s) || strings.Contains(found, "delete the bucket") ||
		!strings.Contains(found, `another one with "rolectl bucket create NAME --js-domain hub"`) {
		t.Errorf("not ours:\n%s", found)
	}
	s.Config.Metadata = map[string]string{metaFormat: strconv.Itoa(formatVersion)}
	if found := strings.Join(faults(bucketPlace("b", hub), &s, ""), "\n"); !strings.Contains(found, "delete the bucket") {
		t.Errorf("ours:\n%s", found)
	}
}

func TestRepairKeepsRecords(t *testing.T) {
	s := startServer(t, nil)
	nc := connect(t, s.ClientURL())
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	cfg := streamConfig(Config{Bucket: "b", Replicas: 1, MaxTTL: DefaultMaxTTL}, time.Now())
	cfg.MaxAge = time.Hour
	cfg.MaxMsgsPerSubject = 5
	cfg.Discard = jetstream.DiscardOld
	cfg.DenyDelete, cfg.AllowDirect, cfg.AllowMsgTTL, cfg.AllowAtomicPublish, cfg.AllowRollup = false, true, false,
		false, false
	cfg.SubjectDeleteMarkerTTL = 0
	cfg.Metadata = map[string]string{"mine": "stays"}
	stream, err := js.CreateStream(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"old", "new"} {
		if _, err := js.Publish(t.Context(), "$KV.b.k", []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(t.Context(), nc, "b"); err == nil {
		t.Fatal("opened an unfit bucket")
	}
	changed, err := Repair(t.Context(), nc, "b")
	if err != nil || len(changed) != 10 {
		t.Fatalf("repair: %v, %d changes:\n%s", err, len(changed), strings.Join(changed, "\n"))
	}
	if _, err := Open(t.Context(), nc, "b"); err != nil {
		t.Errorf("open after the repair: %v", err)
	}
	info, err := stream.Info(t.Context())
	if err != nil || info.Config.Metadata["mine"] != "stays" {
		t.Errorf("metadata %v, %v", info.Config.Metadata, err)
	}
	kv, err := js.KeyValue(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := kv.Get(t.Context(), "k"); err != nil || string(e.Value()) != "new" {
		t.Errorf("record after the repair: %v, %v", e, err)
	}
	if changed, err := Repair(t.Context(), nc, "b"); len(changed) > 0 || err != nil {
		t.Errorf("repairing a fit bucket: %v, %v", changed, err)
	}
}

func TestUnknownFormatIsNotTouched(t *testing.T) {
	s := startServer(t, nil)
	nc := connect(t, s.ClientURL())
	js, _ := jetstream.New(nc)
	cfg := streamConfig(Config{Bucket: "b", Replicas: 1, MaxTTL: DefaultMaxTTL}, time.Now())
	cfg.Metadata[metaFormat] = "99"
	cfg.MaxAge = time.Hour
	if _, err := js.CreateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	changed, err := Repair(t.Context(), nc, "b")
	if len(changed) > 0 || err == nil || !strings.Contains(err.Error(), "upgrade this program") {
		t.Errorf("changed %v, %v", changed, err)
	}
}

// TestEarlierFormatIsRefused: neither opened nor repaired, and the commands that replace the bucket
// make it as it is.
func TestEarlierFormatIsRefused(t *testing.T) {
	s := startServer(t, nil)
	nc := connect(t, s.ClientURL())
	js, _ := jetstream.New(nc)
	cfg := streamConfig(Config{Bucket: "b", Replicas: 1, MaxTTL: time.Minute, MaxBytes: 1 << 20}, time.Now())
	cfg.Metadata[metaFormat] = "1"
	cfg.MaxAge = time.Hour
	if _, err := js.CreateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), nc, "b")
	_, created := Create(t.Context(), nc, Config{Bucket: "b"})
	_, repaired := Repair(t.Context(), nc, "b")
	for _, err := range []error{err, created, repaired} {
		var unfit *UnfitError
		if !errors.Is(err, ErrOldFormat) || !Permanent(err) || !errors.As(err, &unfit) || unfit.Format != 1 ||
			len(unfit.Faults) != 1 || !strings.Contains(err.Error(), "nats kv del b") ||
			!strings.Contains(err.Error(), "rolectl bucket create b --max-ttl 1m0s --max-bytes 1048576") {
			t.Errorf("%v", err)
		}
	}
	if info, err := js.Stream(t.Context(), "KV_b"); err != nil || info.CachedInfo().Config.MaxAge != time.Hour {
		t.Errorf("the bucket was changed, or %v", err)
	}
	if err := (&UnfitError{Bucket: "b"}); errors.Is(err, ErrOldFormat) {
		t.Error("a bucket of this format counts as one of an earlier format")
	}
}

func TestTooOld(t *testing.T) {
	for version, old := range map[string]bool{
		"2.11.9": true, "1.4.1": true, "2.12.0": false, "2.12.0-preview.1": false, "2.15.2": false, "3.0.0": false, "": false,
	} {
		if got := tooOld(version) != ""; got != old {
			t.Errorf("tooOld(%q) = %v", version, got)
		}
	}
	missing := &NotFoundError{Bucket: "b", Old: tooOld("2.10.22")}
	want := `bucket "b" not found, and the server has version 2.10.22: upgrade it to 2.12 or later; then make it with ` +
		`"rolectl bucket create b"`
	if missing.Error() != want || !errors.Is(missing, ErrBucketNotFound) {
		t.Error(missing)
	}
}

func TestKVClientsWorkOnTheBucket(t *testing.T) {
	_, nc, b := newBucket(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, nc, b)
	rev := mustWin(t, w, Write{Key: "c.role.a", Value: []byte("mine")})
	e, err := kv.Get(t.Context(), "c.role.a")
	if err != nil || string(e.Value()) != "mine" || e.Revision() != rev {
		t.Fatalf("get: %v, %v", e, err)
	}
	second, err := kv.Update(t.Context(), "c.role.a", []byte("theirs"), rev)
	if err != nil {
		t.Fatalf("update: %v", err)
	}
	if r := write(t, w, Write{Key: "c.role.a", Expect: rev}, time.Minute); r.Outcome != Refused {
		t.Errorf("write over theirs: %v, %v", r.Outcome, r.Err)
	}
	if err := kv.Delete(t.Context(), "c.role.a", jetstream.LastRevision(second)); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := kv.PutString(t.Context(), "x", "y"); err != nil {
		t.Errorf("put: %v", err)
	}
	if err := kv.Purge(t.Context(), "x"); err != nil {
		t.Errorf("purge: %v", err)
	}
}

// A standalone server forgets a bucket in memory, as Bucket.Volatile describes.
func TestMemoryBucketIsForgottenByARestart(t *testing.T) {
	dir := t.TempDir()
	s := startServerIn(t, dir, nil)
	nc := connect(t, s.ClientURL())
	cfg := Config{Bucket: "b", Storage: jetstream.MemoryStorage}
	b, err := Create(t.Context(), nc, cfg)
	if err != nil || !b.Volatile() {
		t.Fatalf("create in memory: %+v, %v", b, err)
	}
	first := mustWin(t, newWriter(t, nc, b), Write{Key: "k"})
	nc.Close()
	shutdown(s)
	s = startServerIn(t, dir, nil)
	nc = connect(t, s.ClientURL())
	if _, err := Open(t.Context(), nc, "b"); !errors.Is(err, ErrBucketNotFound) {
		t.Fatalf("open after the restart: %v", err)
	}
	if b, err = Create(t.Context(), nc, cfg); err != nil {
		t.Fatal(err)
	}
	if second := mustWin(t, newWriter(t, nc, b), Write{Key: "k"}); second <= first {
		t.Errorf("revision %d after %d", second, first)
	}
}

func TestJetStreamOff(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { shutdown(s) })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server did not come up")
	}
	_, err = Create(t.Context(), connect(t, s.ClientURL()), Config{Bucket: "b"})
	if !errors.Is(err, ErrJetStreamOff) || Permanent(err) {
		t.Errorf("got %v, permanent %v", err, Permanent(err))
	}
}

func TestPermissionDeniedByTheAPI(t *testing.T) {
	s := startServer(t, users{
		"all":     nil,
		"nothing": {Publish: &server.SubjectPermission{Allow: []string{"other"}}},
		"deaf":    {Subscribe: &server.SubjectPermission{Allow: []string{"other"}}},
	})
	if _, err := Create(t.Context(), connect(t, s.ClientURL(), nats.UserInfo("all", "x")),
		Config{Bucket: "b"}); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{"nothing": "$JS.API.STREAM.INFO.KV_b", "deaf": "_INBOX."} {
		start := time.Now()
		_, err := Open(t.Context(), connect(t, s.ClientURL(), nats.UserInfo(user, "x")), "b")
		var denied *PermissionError
		if !errors.As(err, &denied) || !strings.HasPrefix(denied.Subject, want) || !Permanent(err) {
			t.Errorf("%s: got %v after %v, want %s", user, err, time.Since(start), want)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: found only by waiting", user)
		}
	}
}

// An old complaint that is still the connection's last error must not be taken for a new one.
func TestOldComplaintIsNotBelieved(t *testing.T) {
	s := startServer(t, users{"u": {Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.DELETE.>"}}}})
	nc := connect(t, s.ClientURL(), nats.UserInfo("u", "x"))
	if _, err := Create(t.Context(), nc, Config{Bucket: "b"}); err != nil {
		t.Fatal(err)
	}
	const subject = "$JS.API.STREAM.DELETE.KV_b"
	var a streamAnswer
	err := request(t.Context(), nc, bucketPlace("b", Reach{}), subject, nil, &a)
	if !errors.Is(err, nats.ErrPermissionViolation) {
		t.Fatalf("got %v", err)
	}
	if _, err := Open(t.Context(), nc, "b"); err != nil {
		t.Errorf("open after a complaint about something else: %v", err)
	}
}

func deleteBucket(tb testing.TB, nc *nats.Conn, bucket string) {
	tb.Helper()
	m, err := nc.Request("$JS.API.STREAM.DELETE."+streamName(bucket), nil, 10*time.Second)
	if err != nil {
		tb.Fatalf("delete bucket: %v", err)
	}
	var a struct{ Success bool }
	if err := json.Unmarshal(m.Data, &a); err != nil || !a.Success {
		tb.Fatalf("delete bucket: %s, %v", m.Data, err)
	}
}

// A server removes the directories of a deleted bucket after it has answered. For a moment it may
// remove those of a new bucket with them, and Create tries again.
func TestMadeAgainAtOnce(t *testing.T) {
	_, nc, _ := newBucket(t)
	for range 60 {
		deleteBucket(t, nc, "b")
		if _, err := Create(t.Context(), nc, Config{Bucket: "b"}); err != nil {
			t.Fatal(err)
		}
	}
}
