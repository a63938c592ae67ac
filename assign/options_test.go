package assign_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestOptionsThatCannotBe: each is refused, by a text that names the option, what it said and what
// would do.
func TestOptionsThatCannotBe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		long := strings.Repeat("x", 300)
		for _, tt := range []struct {
			option assign.SubmitOption
			want   error
			says   string
		}{
			{assign.WithID("a..b"), assign.ErrInvalidID, "a..b"},
			{assign.WithID("cron/x/1"), assign.ErrInvalidID, "recurrences"},
			{assign.WithUnique(""), assign.ErrInvalidOption, "WithUnique: 0 bytes: use"},
			{assign.WithSticky(long), assign.ErrInvalidOption, "WithSticky: 300 bytes: use"},
			{assign.WithLimitKey(long), assign.ErrInvalidOption, "WithLimitKey: 300 bytes: use"},
			{assign.WithTraceParent(long), assign.ErrInvalidOption, "WithTraceParent: 300 bytes: use"},
			{assign.WithHeader("", "x"), assign.ErrInvalidOption, "WithHeader: the name is empty"},
			{assign.WithHeader("a b", "x"), assign.ErrInvalidOption, `the name "a b": use`},
			{assign.WithHeader("a:b", "x"), assign.ErrInvalidOption, `the name "a:b": use`},
			{assign.WithHeader("a\r\nb", "x"), assign.ErrInvalidOption, `the name "a\r\nb": use`},
			{assign.WithHeader("ä", "x"), assign.ErrInvalidOption, `the name "ä": use`},
			{
				assign.WithHeader("a", "x\r\nNats-TTL: 1s"), assign.ErrInvalidOption,
				"the value of a, \"x\\r\\nNats-TTL: 1s\", has line breaks",
			},
			{assign.WithHeader("a", "x\x00"), assign.ErrInvalidOption, "has line breaks or control characters"},
			{assign.WithHeader("a", "\xff"), assign.ErrInvalidOption, "is not UTF-8"},
			{
				assign.WithHeader("x", strings.Repeat("x", 5000)), assign.ErrTooLarge,
				"headers of 5008 bytes, the limit is 4096: shorten",
			},
			{assign.WithPriority(101), assign.ErrInvalidOption, "WithPriority(101): use a priority of -100 to 100"},
			{assign.WithDelay(-time.Second), assign.ErrInvalidOption, "WithDelay(-1s): use"},
			{assign.WithDeadline(0), assign.ErrInvalidOption, "WithDeadline(0s): use"},
			{assign.WithID(""), assign.ErrInvalidID, "leave WithID out"},
			{assign.WithDeadline(-time.Second), assign.ErrInvalidOption, "WithDeadline(-1s): use"},
			{assign.WithLabels(map[string]string{"": "x"}), assign.ErrInvalidOption, "WithLabels"},
			{assign.With(assign.Slots(-1)), assign.ErrInvalidOption, "Slots(-1): use 1 to 4096"},
			{assign.With(assign.MaxAttempts(0)), assign.ErrInvalidOption, "MaxAttempts(0): use 1 to 10000"},
			{assign.With(nil), assign.ErrInvalidOption, "nil"},
			{assign.WithEach(func(int) []assign.SubmitOption { return nil }), assign.ErrInvalidOption, "SubmitBatch"},
			{assign.WithEach(nil), assign.ErrInvalidOption, "WithEach(nil): leave it out"},
			{nil, assign.ErrInvalidOption, "option 0 is nil"},
		} {
			p, err := assign.Submit(t.Context(), c, double, 1, tt.option)
			says(t, err, tt.want, tt.says)
			if tt.want == assign.ErrInvalidOption && !strings.Contains(tt.says, "SubmitBatch") { // each of a batch says the same
				_, err = assign.SubmitBatch(t.Context(), c, double, []int{1},
					assign.WithEach(func(int) []assign.SubmitOption { return []assign.SubmitOption{tt.option} }))
				if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("a batch: %v; want %q", err, tt.says)
				}
			}
			if p != nil {
				t.Errorf("%s: a task", tt.says)
			}
		}
		if _, err := assign.Submit(t.Context(), c, assign.Kind[int, int]{}, 1); !errors.Is(err, assign.ErrInvalidKind) {
			t.Errorf("no kind: %v", err)
		}
		if _, err := assign.SubmitBatch(t.Context(), c, double, []int{1}, nil); !errors.Is(err, assign.ErrInvalidOption) {
			t.Errorf("a batch with an option that is nil: %v", err)
		}
		if all, err := assign.SubmitBatch(t.Context(), c, double, []int{1}, assign.WithEach(nil)); all[0] != nil {
			t.Errorf("a batch with no options for each: %v, %v", all, err)
		} else {
			says(t, err, assign.ErrInvalidOption, "WithEach(nil): leave it out")
		}
		within := assign.WithEach(func(int) []assign.SubmitOption { return []assign.SubmitOption{assign.WithID("lost")} })
		if all, err := assign.SubmitBatch(t.Context(), c, double, []int{1},
			assign.WithEach(func(int) []assign.SubmitOption { return []assign.SubmitOption{within} })); all[0] != nil {
			t.Errorf("options for each among those of one: %v, %v", all, err)
		} else {
			says(t, err, assign.ErrInvalidOption, "give its options as they are")
		}
	})
}

// TestTraceParents: a nonsense one would be dropped by its receiver without a word.
func TestTraceParents(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
		for text, fits := range map[string]bool{
			"":                                 true,
			"00-" + trace + "-" + span + "-01": true,
			"00-" + trace + "-" + span + "-00": true,
			"cc-" + trace + "-" + span + "-01": true, // of a later version
			"cc-" + trace + "-" + span + "-01-what-the-future-will-be-like": true,
			"nonsense":                                                       false,
			"00-" + trace + "-" + span:                                       false,
			"00-" + trace + "-" + span + "-01-":                              false,
			"cc-" + trace + "-" + span + "-01.":                              false,
			"cc-" + trace + "-" + span + "-01-\r\nNats-TTL: 1s":              false,
			"ff-" + trace + "-" + span + "-01":                               false,
			"00-" + strings.ToUpper(trace) + "-" + span + "-01":              false,
			"00-" + trace + "_" + span + "-01":                               false,
			"00-" + strings.Repeat("0", 32) + "-" + span + "-01":             false,
			"00-" + trace + "-" + strings.Repeat("0", 16) + "-01":            false,
			"00-" + strings.Replace(trace, "b", "g", 1) + "-" + span + "-01": false,
		} {
			p, err := assign.Submit(t.Context(), c, double, 1, assign.WithTraceParent(text))
			if !fits {
				says(t, err, assign.ErrInvalidOption, "WithTraceParent: ")
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if st, err := p.Status(t.Context()); err != nil || st.TraceParent != text {
				t.Errorf("%q: %+v, %v", text, st, err)
			}
		}
	})
}

// TestDelaysThatEndAfterTheDeadline: the task would be over before it began.
func TestDelaysThatEndAfterTheDeadline(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		for delay, fits := range map[time.Duration]bool{999 * time.Millisecond: true, time.Second: false, time.Hour: false} {
			for i, opts := range [][]assign.SubmitOption{
				{assign.WithDelay(delay), assign.WithDeadline(time.Second)},
				{assign.WithDeadline(time.Second), assign.WithDelay(delay)},
			} {
				check := func(err error) {
					t.Helper()
					if fits && err != nil {
						t.Errorf("a delay of %v: %v", delay, err)
					} else if !fits {
						says(t, err, assign.ErrInvalidOption, "use a longer deadline")
					}
				}
				_, err := assign.Submit(t.Context(), c, double, 1, opts...)
				check(err)
				_, err = assign.SubmitBatch(t.Context(), c, double, []int{1}, opts[0],
					assign.WithEach(func(int) []assign.SubmitOption { return opts[1:] }))
				if fits != (err == nil) || err != nil && !errors.Is(err, assign.ErrInvalidOption) {
					t.Errorf("batch %d with a delay of %v: %v", i, delay, err)
				}
			}
		}
	})
}

func says(t *testing.T, err, want error, text string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), text) {
		t.Errorf("%v; want %v that says %q", err, want, text)
	} else if n := strings.Count(err.Error(), "assign:"); n != 1 {
		t.Errorf("%v: names the package %d times", err, n)
	}
}

func TestKindsThatCannotBe(t *testing.T) {
	for text, option := range map[string]assign.KindOption{
		"MaxAttempts(10001): use":  assign.MaxAttempts(10_001),
		"Timeout(-1s): use":        assign.Timeout(-time.Second),
		"Backoff(2s, 1s): use":     assign.Backoff(2*time.Second, time.Second),
		"Backoff(0s, 1s): use":     assign.Backoff(0, time.Second),
		"Retention(1s): use":       assign.Retention(time.Second),
		"Retention(876000h0m0s):":  assign.Retention(100 * 365 * 24 * time.Hour),
		"Priority(-101): use":      assign.Priority(-101),
		"Slots(0): use":            assign.Slots(0),
		"Slots(4097): use":         assign.Slots(4097),
		"Concurrency(-1): use":     assign.Concurrency(-1),
		"KeyLimit(0): use":         assign.KeyLimit(0),
		"Rate(+Inf): use":          assign.Rate(math.Inf(1)),
		"Rate(NaN): use":           assign.Rate(math.NaN()),
		"Rate(1e-300): use":        assign.Rate(1e-300),
		"Rate(-1): use":            assign.Rate(-1),
		"Labels(33 labels): use":   assign.Labels(manyLabels(33)),
		"the name of a label is":   assign.Labels(map[string]string{"": ""}),
		"it is nil: leave it out":  nil,
		"labels of":                assign.Labels(map[string]string{"x": strings.Repeat("x", 9000)}),
		"Timeout(876000h0m0s): us": assign.Timeout(100 * 365 * 24 * time.Hour),
	} {
		_, err := assign.MakeKind[int, int]("k", option)
		says(t, err, assign.ErrInvalidKind, text)
	}
	_, err := assign.MakeKind[int, int]("no good", assign.Timeout(0))
	says(t, err, assign.ErrInvalidKind, "no good")
	_, err = assign.MakeKind[int, int]("k", assign.Slots(0), assign.Priority(200))
	says(t, err, assign.ErrInvalidKind, "Slots(0)")
	says(t, err, assign.ErrInvalidKind, "Priority(200)")
	if _, err := assign.MakeKind[int, int]("k", assign.Timeout(0), assign.Concurrency(0), assign.Rate(0),
		assign.Rate(1.0/86400)); err != nil {
		t.Errorf("what means none: %v", err)
	}
}

func manyLabels(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint(i)] = "x"
	}
	return all
}

// TestNobodyToSubmitTo: a nil submitter is an error wherever it is given.
func TestNobodyToSubmitTo(t *testing.T) {
	if _, err := assign.NewClient(nil, assign.ClientConfig{Namespace: testNS}); !errors.As(err, new(*assign.ConfigError)) {
		t.Errorf("no connection: %v", err)
	}
	for name, to := range map[string]assign.Submitter{
		"none": nil, "no client": (*assign.Client)(nil), "no assigner": (*assign.Assigner)(nil),
		"an empty client":   &assign.Client{},
		"an empty assigner": &assign.Assigner{},
	} {
		ctx := context.Background()
		_, submitted := assign.Submit(ctx, to, double, 1)
		_, batch := assign.SubmitBatch(ctx, to, double, []int{1})
		_, found := assign.Find(to, double, "x").Wait(ctx)
		_, got := assign.Get(ctx, to, "x")
		_, listed := assign.List(ctx, to, assign.ListOptions{})
		_, overview := assign.GetOverview(ctx, to)
		recur := assign.Recur(ctx, to, double, "x", "@hourly", 1)
		for i, err := range []error{submitted, batch, found, got, listed, overview, recur, assign.Requeue(ctx, to, "x")} {
			if !errors.Is(err, assign.ErrNoClient) {
				t.Errorf("%s, call %d: %v", name, i, err)
			}
		}
	}
}

// TestKeysAreText: JSON would make other keys of text that is not UTF-8, and the same one of two.
func TestKeysAreText(t *testing.T) {
	c := New(t, natstest.Server(t))
	k := assign.NewKind[string, string]("k")
	for _, o := range []assign.SubmitOption{
		assign.WithSticky("\xff"), assign.WithUnique("a\xff"),
		assign.WithLimitKey("\xff"),
	} {
		if _, err := assign.Submit(t.Context(), c, k, "", o); !errors.Is(err, assign.ErrInvalidOption) {
			t.Errorf("%v", err)
		}
	}
}
