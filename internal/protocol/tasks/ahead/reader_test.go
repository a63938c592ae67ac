package ahead

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// backlog is a stream of inputs, a reader of it, and a scheduler that hands them out in frames. The
// words of each may reach the other late.
type backlog struct {
	now    record.Instant
	stream []uint64 // the revisions of its records
	gone   map[uint64]bool
	ended  map[uint64]bool // their tasks have ended
	rule   Reader
	shelf  Shelf[bool]

	wants   []Want          // that the reader has not got
	answers []any           // that the scheduler has not got: uint64, portion
	open    map[uint64]bool // what frames wait for
	place   int             // of the reading

	wanted, came                  int
	begins, ends, portions, alone int
	most                          int // records at hand and on the way
}

type portion struct {
	number uint64
	inputs int
	along  []uint64
}

// hand has the scheduler send a frame.
func (w *backlog) hand(revisions []uint64) {
	for _, r := range revisions {
		if w.open[r] {
			continue
		}
		w.wanted++
		if _, ok := w.shelf.Take(r); ok {
			w.came++
			w.more()
		} else {
			w.open[r] = true
			w.wants = append(w.wants, w.shelf.Want(r))
		}
	}
}

func (w *backlog) more() {
	if x, ok := w.shelf.More(); ok {
		w.wants = append(w.wants, x)
	}
}

func (w *backlog) given(revision uint64) (awaited bool) {
	if awaited = w.open[revision]; awaited {
		delete(w.open, revision)
		w.came++
	}
	return awaited
}

// hear gives the scheduler one answer of the reader.
func (w *backlog) hear() {
	a := w.answers[0]
	w.answers = w.answers[1:]
	switch a := a.(type) {
	case uint64:
		w.given(a)
	case portion:
		rest, used := map[uint64]bool{}, 0
		for _, r := range a.along {
			if w.given(r) {
				used++
			} else if !w.ended[r] {
				rest[r] = true
			}
		}
		w.shelf.Put(a.number, a.inputs, used, rest)
		w.more()
	}
	w.most = max(w.most, len(w.shelf.last)+len(w.shelf.before))
}

func (w *backlog) one(list []Want) {
	for _, x := range list {
		w.alone++
		w.answers = append(w.answers, x.Revision)
	}
}

// read has the reader do all that it has been told.
func (w *backlog) read(t interface{ Fatalf(string, ...any) }, size int) {
	behind, list, more := w.rule.Sort(w.now, w.wants)
	w.wants = nil
	w.one(behind)
	for range 1000 {
		w.now = w.now.Add(time.Millisecond)
		switch w.rule.Next(w.now, list, more) {
		case Done:
			return
		case Alone:
			w.one(list)
			return
		case End:
			w.ends++
			w.rule.Ended(w.now, 0)
		case Begin:
			w.begins++
			since := w.now
			w.now = w.now.Add(20 * time.Millisecond)
			w.rule.Began(since, w.now, list[0].Revision)
			w.place, _ = slices.BinarySearch(w.stream, list[0].Revision)
		case Portion:
			w.portions++
			var revisions []uint64
			for ; w.place < len(w.stream) && len(revisions) < size; w.place++ {
				if r := w.stream[w.place]; !w.gone[r] {
					revisions = append(revisions, r)
				}
			}
			if len(revisions) == 0 {
				w.one(list)
				return
			}
			var missing []Want
			wanted := list
			missing, list = w.rule.Read(w.now, revisions, list)
			w.one(missing)
			p := portion{number: w.rule.Number()}
			for _, r := range revisions {
				if !w.ended[r] {
					p.inputs++
				}
				if w.rule.Along(r) {
					p.along = append(p.along, r)
				} else if !slices.ContainsFunc(wanted, func(x Want) bool { return x.Revision == r }) {
					t.Fatalf("%d is neither wanted nor read along", r)
				} else {
					w.answers = append(w.answers, r)
				}
			}
			w.answers = append(w.answers, p)
		}
		more = false
	}
	t.Fatalf("it does not end")
}

// settle lets everything come that is on its way, and says what does not.
func (w *backlog) settle(t interface{ Fatalf(string, ...any) }, size int) {
	for len(w.wants)+len(w.answers) > 0 {
		w.read(t, size)
		for len(w.answers) > 0 {
			w.hear()
		}
	}
	if len(w.open) > 0 {
		t.Fatalf("%d inputs never come", len(w.open))
	}
}

func newBacklog(records, gap int) *backlog {
	w := &backlog{now: 1, gone: map[uint64]bool{}, ended: map[uint64]bool{}, open: map[uint64]bool{}}
	for i := range records {
		w.stream = append(w.stream, uint64(100+i*gap))
	}
	return w
}

// TestWhateverIsWantedComes: in whatever order inputs are wanted, once or again, and whatever is on
// its way meanwhile, each comes that frames wait for. No more than two portions are at hand.
func TestWhateverIsWantedComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newBacklog(rapid.IntRange(1, 6000).Draw(t, "records"), rapid.SampledFrom([]int{1, 2, 30, 2000}).Draw(t, "gap"))
		if every := rapid.IntRange(0, 5).Draw(t, "ended"); every > 0 {
			for i := 0; i < len(w.stream); i += every {
				w.ended[w.stream[i]] = true
			}
		}
		size := rapid.SampledFrom([]int{1, 10, Most}).Draw(t, "size")
		at := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0, 1: // the next ones of the queue
				n := min(rapid.IntRange(1, 600).Draw(t, "frame"), len(w.stream)-at)
				w.hand(w.stream[at : at+n])
				at += n
			case 2: // some other one, or one of those again
				w.hand([]uint64{w.stream[rapid.IntRange(0, len(w.stream)-1).Draw(t, "other")]})
			case 3:
				w.read(t, size)
			case 4:
				for range min(rapid.IntRange(1, 600).Draw(t, "answers"), len(w.answers)) {
					w.hear()
				}
			case 5:
				w.now = w.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, idle}).Draw(t, "wait"))
			case 6: // a task ends, or is submitted again
				w.gone[w.stream[rapid.IntRange(0, len(w.stream)-1).Draw(t, "gone")]] = true
			}
		}
		w.settle(t, size)
		if w.came != w.wanted {
			t.Fatalf("%d came of %d", w.came, w.wanted)
		}
		if w.most > 2*size {
			t.Fatalf("%d records are at hand", w.most)
		}
	})
}

// TestABacklogIsReadInPortions: with frames of whatever size, many of which are sent before the
// answers to them come, a backlog is read by one reading, and nothing but the first inputs alone.
func TestABacklogIsReadInPortions(t *testing.T) {
	const records = 50_000
	for _, size := range []int{1, 7, 100, 128, 512} { // of a frame
		for _, late := range []int{1, 3, 4, 8} { // frames
			w := newBacklog(records, 2)
			for at, frames := 0, 1; at < records; frames++ {
				n := min(size, records-at)
				w.hand(w.stream[at : at+n])
				at += n
				w.read(t, Most)
				for frames%late == 0 && len(w.answers) > 0 {
					w.hear()
				}
			}
			w.settle(t, Most)
			if w.came != records || w.begins != 1 || w.alone > fewestInRow+size*late || w.portions > records/Most+2 {
				t.Errorf("%d frames of %d: %d came; %d readings of %d portions, %d alone", late, size, w.came, w.begins,
					w.portions, w.alone)
			}
		}
	}
}

// TestNothingIsReadForTasksThatHaveEnded: half of the records of a backlog, and all behind it, are
// those of tasks that have ended. The backlog is read in portions, and the reading stops behind it.
func TestNothingIsReadForTasksThatHaveEnded(t *testing.T) {
	const open = 10 * Most
	w := newBacklog(60*Most, 1)
	var inputs []uint64
	for i, r := range w.stream {
		if i < 2*open && i%2 == 0 {
			inputs = append(inputs, r)
		} else {
			w.ended[r] = true
		}
	}
	for at := 0; at < open; at += 64 {
		w.hand(inputs[at : at+64])
		w.settle(t, Most)
	}
	if w.came != open || w.begins != 1 || w.portions > 2*open/Most+3 || w.alone > fewestInRow+64 {
		t.Errorf("%d came; %d readings of %d portions, %d alone", w.came, w.begins, w.portions, w.alone)
	}
}

// TestWantedAgain: an input that came is read again when it is wanted again, and one that is not in
// its portion is read too.
func TestWantedAgain(t *testing.T) {
	w := newBacklog(1000, 1)
	w.gone[w.stream[5]] = true
	w.hand(w.stream[:10])
	w.settle(t, Most)
	for range 3 {
		w.hand(w.stream[20:21])
		w.settle(t, Most)
	}
	if w.came != w.wanted || w.alone != 3 {
		t.Errorf("%d came of %d, %d of them alone", w.came, w.wanted, w.alone)
	}
}

// TestItReadsAhead: frames that are sent one after the other find all inputs at hand.
func TestItReadsAhead(t *testing.T) {
	w, waited := newBacklog(20*Most, 1), 0
	for i := range w.stream {
		w.hand(w.stream[i : i+1])
		waited += len(w.open)
		w.settle(t, Most)
	}
	if waited > fewestInRow+1 {
		t.Errorf("%d frames waited", waited)
	}
}

// TestAReadingOfNoUseEnds: inputs here and there are read alone, and so are those that follow each
// other where hardly one is wanted. There is a pause between readings.
func TestAReadingOfNoUseEnds(t *testing.T) {
	for _, c := range []struct {
		name               string
		first, step, frame int
		size               int // of a portion
	}{
		{"rare", 10, 100, 1, Most},
		{"far", 10, Most*worthwhile + 100, 1, 10},
		{"rows", 10, 2 * Most * worthwhile, fewestInRow, Most},
		{"single", 0, 1000, 1, Most},
	} {
		w := newBacklog(2_000_000, 1)
		w.hand(w.stream[:c.first])
		w.settle(t, c.size)
		began := w.now
		for i := 1000; i+c.step < len(w.stream) && i < 1000+300*c.step; i += c.step {
			w.hand(w.stream[i : i+c.frame])
			w.settle(t, c.size)
		}
		most := min(c.first, 1) + int(w.now.Sub(began)/time.Second)*c.first
		if w.portions > 10 || w.begins > most {
			t.Errorf("%s: %d readings of %d portions in %v", c.name, w.begins, w.portions, w.now.Sub(began))
		}
	}
}

// TestAReadingIsForgotten: by the server, when it was not used for a while.
func TestAReadingIsForgotten(t *testing.T) {
	w := newBacklog(10_000, 1)
	for i := range 2 * Most {
		w.hand(w.stream[i : i+1])
		w.settle(t, Most)
	}
	w.now = w.now.Add(idle)
	w.hand(w.stream[4*Most : 4*Most+10])
	w.settle(t, Most)
	if w.ends != 1 || w.begins != 2 {
		t.Errorf("%d ended, %d began", w.ends, w.begins)
	}
}
