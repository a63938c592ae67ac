package electionsim

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

const (
	// atMostTrials is how often fewer plays a plan.
	atMostTrials = 1000
	// otherSeeds is under how many further seeds each smaller plan is played: without a part that is
	// gone, all messages are drawn again.
	otherSeeds = 3
)

// fewer takes out of a plan that fails whatever can be missing while it breaks the same promise:
// members and roles with the faults that name them, faults, noise, what members can do, and time
// before and in faults.
func fewer(plan *Plan) *Plan {
	s := shrinking{plan: plan, breaks: breaks}
	s.shrink()
	return s.plan
}

// shrinking is a plan as small as it is known to fail.
type shrinking struct {
	plan   *Plan
	breaks func(*Plan) string // "": nothing
	broken string
	trials int
}

func (s *shrinking) shrink() {
	s.trials++
	s.broken = s.breaks(s.plan)
	for smaller := s.broken != ""; smaller && s.trials < atMostTrials; {
		smaller = s.pass()
	}
}

// pass tries everything once, the largest first, and reports whether something could be missing.
func (s *shrinking) pass() (smaller bool) {
	without := func(take func(p *Plan)) { smaller = s.without(take) || smaller }
	for i := len(s.plan.Members) - 1; i > 0; i-- {
		without(func(p *Plan) {
			p.Members = p.Members[:len(p.Members)-1]
			last := len(p.Members)
			p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool { return f.Who >= last })
		})
	}
	for i := s.plan.Roles - 1; i > 0; i-- {
		without(func(p *Plan) {
			p.Roles--
			p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool { return f.Role >= p.Roles })
			for i := range p.Members {
				p.Members[i].Priorities = p.Members[i].Priorities[:p.Roles]
			}
		})
	}
	for i := len(s.plan.Faults) - 1; i >= 0; i-- {
		without(func(p *Plan) { p.Faults = slices.Delete(p.Faults, i, i+1) })
	}
	for i := range reflect.TypeFor[Noise]().NumField() {
		without(func(p *Plan) { reflect.ValueOf(&p.Noise).Elem().Field(i).SetInt(0) })
	}
	for i := range s.plan.Faults {
		without(func(p *Plan) {
			if f := &p.Faults[i]; f.For >= 100*time.Millisecond {
				f.For /= 2
			}
		})
	}
	without(sooner)
	without(func(p *Plan) { p.Sticky = false })
	for i := range s.plan.Members {
		without(func(p *Plan) { p.Members[i].Rotation = 0 })
		without(func(p *Plan) { p.Members[i].Wide = false })
		without(func(p *Plan) { p.Members[i].Worker = false })
		without(func(p *Plan) { p.Members[i].VacateUndrained = false })
		without(func(p *Plan) { p.Members[i].Takeover = false })
		without(func(p *Plan) { p.Members[i].Rate = 0 })
	}
	return smaller
}

// sooner halves the time before the first fault, down to a second, in which everybody joins.
func sooner(p *Plan) {
	first := Length
	for _, f := range p.Faults {
		first = min(first, f.At)
	}
	for i := range p.Faults {
		p.Faults[i].At -= max(0, min(first/2, first-time.Second))
	}
}

// without takes something out of the plan if it breaks the same promise then. A part that was not
// there is not tried.
func (s *shrinking) without(take func(p *Plan)) bool {
	less := *s.plan
	less.Members, less.Faults = slices.Clone(less.Members), slices.Clone(less.Faults)
	take(&less)
	if reflect.DeepEqual(&less, s.plan) {
		return false
	}
	for seed := uint64(0); seed <= otherSeeds && s.trials < atMostTrials; seed++ {
		if seed > 0 {
			less.Seed = seed
		}
		s.trials++
		if s.breaks(&less) == s.broken {
			s.plan = &less
			return true
		}
	}
	return false
}

var (
	promises = regexp.MustCompile(`^[EI]\d(, [EI]\d)*`)
	digits   = regexp.MustCompile(`\d+`)
)

// breaks is the promise that a plan breaks, E1 say, or what goes wrong of something without a name,
// no matter which process, and when; "" is none. One that makes the rules panic breaks what no
// other does.
func breaks(plan *Plan) (what string) {
	defer func() {
		if recover() != nil {
			what = "panic"
		}
	}()
	_, err := Run(plan)
	if err == nil {
		return ""
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if name := promises.FindString(text); name != "" {
		return name
	}
	return digits.ReplaceAllString(text, "#")
}

// TestFewer: of a plan that fails stays what it takes to break the same promise; the plan itself is
// left as it was.
func TestFewer(t *testing.T) {
	needed := func(p *Plan) string { // the process that breaks another promise once the second member is gone
		lost := slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Who == 1 && f.Kind == Cut })
		switch {
		case len(p.Members) < 2:
			return "E2"
		case lost && p.Noise.LostReply > 0:
			return "E1"
		}
		return ""
	}
	for seed, tried := uint64(1), 0; tried < 20; seed++ {
		if seed > 10_000 {
			t.Fatalf("only %d of so many plans have a second member whose link is cut", tried)
		}
		plan := wild(seed)
		if needed(plan) != "E1" {
			continue
		}
		tried++
		s := shrinking{plan: plan, breaks: needed}
		s.shrink()
		less := s.plan
		if needed(less) != "E1" || len(less.Members) != 2 || len(less.Faults) != 1 || less.Roles != less.Faults[0].Role+1 ||
			less.Noise != (Noise{LostReply: plan.Noise.LostReply}) || less.Members[0].Rotation+less.Members[1].Rotation != 0 ||
			less.Sticky {
			t.Errorf("seed %d: %+v is what is left of %+v", seed, *less, *plan)
		}
		if s.trials > atMostTrials {
			t.Errorf("seed %d: played %d times", seed, s.trials)
		}
		if again := wild(seed); !reflect.DeepEqual(plan, again) {
			t.Errorf("seed %d: %+v has become %+v", seed, *again, *plan)
		}
	}
}

// TestFewerOfWhatFails: clocks that run faster and slower than any that the rules allow for break
// promises, which fewer finds again with less.
func TestFewerOfWhatFails(t *testing.T) {
	for seed, failed := uint64(1), 0; failed < thorough.Pick(1, 3); seed++ {
		if seed > 10_000 {
			t.Fatalf("only %d of so many plans fail", failed)
		}
		plan := wild(seed)
		for i := range plan.Members {
			plan.Members[i].Rate = 400_000 * int64(1-2*(i%2))
		}
		broken := breaks(plan)
		if broken == "" {
			continue
		}
		failed++
		less := fewer(plan)
		if got := breaks(less); got != broken {
			t.Errorf("seed %d breaks %s, with less %q", seed, broken, got)
		}
		if len(less.Faults) >= max(1, len(plan.Faults)) && reflect.DeepEqual(less.Noise, plan.Noise) {
			t.Errorf("seed %d: of %+v %+v is left", seed, *plan, *less)
		}
	}
}
