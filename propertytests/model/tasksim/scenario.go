package tasksim

import (
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Scenario is what is drawn for one run.
type Scenario struct {
	Seed       uint64
	Processes  int // Candidates of them campaign
	Candidates int
	Slots      int
	Tasks      int

	Lease   time.Duration
	Delay   time.Duration // of most messages, at most
	Late    float64       // share of messages that are very late
	Loss    float64
	Doubled float64
	Deposed float64       // share of the looks at the role in which it is given to somebody else though its holder lives
	Lag     time.Duration // of views, at most; some lag less
	ReadLag time.Duration // of the reading of the stream, at most
	Faults  time.Duration // between two, on average
	Rest    time.Duration // between two schedulers that leave in peace, on average; 0: none does

	Retention  time.Duration // of outcomes, 0: for ever
	Unsendable float64       // share of frames of which an assignment cannot be sent
	Unstorable float64       // share of results, and of checkpoints, that the stream never takes
	Versions   bool          // some processes are old, and cannot read some submissions and definitions
	Bounded    bool          // the limits of a kind stand in a record, and submissions say anything
	Sharing    bool          // fair keys have shares, which an operator changes
	Deploys    bool          // some processes are of an earlier build, and cannot decode some inputs
	Skewed     bool          // processes have clocks of their own
	Steps      time.Duration // of the stream's clock, between two, on average; 0: none
	Remakes    bool          // the bucket is recreated now and then
	Rotated    float64       // share of the looks at the role in which its holder is given another epoch
	AtRest     bool          // idle sessions are ended when a worker does not answer, and later than others else
	Deaf       bool          // messages of schedulers miss a process now and then
	Outcast    bool          // they always miss the last one, which is never at rest
	Estranged  bool          // the last one, which is never at rest, is out of reach from some moment on, for good
	Hosts      bool          // two workers share one host, and are lost together; the first process is spared
	Beheaded   bool          // the process that leads crashes some time after a host
	Wiped      float64       // share of the sessions that crash of which somebody removes the records

	Rewrites time.Duration // of outcomes that a reading is about to come to, between two, on average; 0: none

	Chained   bool // some tasks wait for others, and some are of groups
	Renames   bool // names of groups are used again
	Batches   bool // writes under the seal gather for batches
	Bundles   int  // so many bundles of submissions
	Leavers   bool // their members are submitted again by their ids, whether the bundle is there or not
	Recurring bool // tasks are submitted by recurrences too
	Stubborn  bool // handlers that are told to stop run on for long
	Poisons   int  // so many tasks, the first ones, kill every process that runs them
	Budget    int  // lost workers that a task may be blamed for, 0: any number
	CrashAt   int  // the effect, counted over all schedulers, after which its scheduler's process crashes; 0: none

	Length, Calm time.Duration

	Story io.Writer // what happens is told there, nil: nowhere
	Trace string    // to this task alone, "" for all
}

// poison reports whether a task kills every process that runs it.
func (s *Scenario) poison(id string) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(id, "t"))
	return err == nil && number < s.Poisons
}

// Counts say what happened: a run in which nothing did proves nothing.
type Counts struct {
	Started, Adopted, Reruns, Rejected, Refused, Fenced, Stale, Terms, Depositions, Lost, Crashes, Cuts, Abandoned,
	LateWrites, Outcomes int
	// processes that stood still, and what waited for them
	Pauses, Held int
	Rotations    int
	// the stream's clock
	Stepped int
	// buckets that were recreated, and handlers that began in sessions of one that was gone
	Remade, Outlived int
	// sessions whose records were removed, and those that were ended for the sake of the state
	Wipes, Awaited int
	// workers that did not answer for long, and sessions that were ended at rest for that
	Unanswered, EndedAtRest int
	// messages that missed a process that is deaf or came from one that is mute, and how often one
	// was named
	Missed, Unheard, Named int
	// member records that say what a worker holds
	Words int
	// handlers that were told why they are stopped
	Told int
	// clients that left before they had submitted a task with a unique key
	Left int
	// outcomes that such a client was to replace, and another one has written again
	Rewritten int
	Requests, Cancelled, Requeued, Shared, Steered, Checkpoints, Resumed, Ticks, Dropped, Counted, Buried, Undecoded,
	Rests, Begun, Rereads, Unsent, Unstored, Opaque, Unreadable, Again, Revived, Expired, Reused, Squatted,
	Redefined, Lower, PausedTicks, Rebound, Disputed int
	// ticks that were skipped, or have waited, and tasks that were cancelled for one
	LeftOut, Waited, Replaced int
	// tasks that were skipped, outcomes that were made to stay, and tasks that began after others
	Skipped, Stayed, Chains int
	// outcomes that were written again ahead of a reading, and seals that were written for that
	Ahead, Resealed int
	// hosts that were lost, and processes that led, see Beheaded
	HostsLost, HeadsLost int
	// groups of a name that was used before, and members of the earlier ones that were kept still
	Renamed, KeptMembers int
	// completions of groups that began, and groups that were given up
	Groups, GivenUp int
	// refused: a later epoch was in view
	StaleFrames, StalePushed int
	// batches, and those that were halved
	Together, Halved int
	// bundles, those that have ended, and records of members that have
	Bundled, Whole, Ends int
	// claims of blocks, those that somebody relied on again, and bundles that were refused for one
	Claims, Relied, ShutOut int
	Silent                  int // bundles of which nothing was known for too long
	// submissions with a unique key, and keys that a scheduler has freed
	Keyed, Freed int
	// notes of a suspicion, and attempts that began alone for one
	Suspected, Alone int
	// handlers that were told to stop and ran on for long
	Outstayed int
	// hand-outs under a record of limits, and those after which as many ran as it says
	Bounds, Full int
	// tasks that are dead since nobody can decode their inputs
	Undecodable int
	// records of groups
	Tallies int
	// hand-outs of the kind whose keys take turns while others waited
	Turns int
	// likewise while a key among them had a share of several, and records of shares
	Shares, Reshared int
	Effects          int
	Seconds          int // of virtual time
}

// Add adds up.
func (c *Counts) Add(o Counts) {
	sum, more := reflect.ValueOf(c).Elem(), reflect.ValueOf(o)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}
