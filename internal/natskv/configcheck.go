package natskv

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// rule is one requirement for a bucket's stream, with its reason and its repair.
type rule struct {
	// fit reports whether the stream meets the requirement.
	fit func(bucket string, s *jetstream.StreamInfo) bool
	// fault describes what is wrong and why it matters.
	fault string
	// repair gives the key and the value in the stream's JSON configuration that correct the fault
	// in place. It is nil when that is impossible.
	repair func(s *jetstream.StreamInfo) (key string, value any)
	// cure is what to do when there is no repair. "%s" is the bucket.
	cure string
	// adopt means that adopting the bucket corrects the fault.
	adopt bool
}

const (
	repairCure   = "repair it with \"rolectl bucket check %s --fix\""
	recreateCure = "delete the bucket and recreate it with \"rolectl bucket create %s\""
	adoptCure    = "make it a bucket of its own with \"rolectl bucket adopt %s\""
	// anotherCure leaves alone what is not ours: it may be somebody's data.
	anotherCure = "create another one with \"rolectl bucket create NAME%s\""
)

func set(key string, value any) func(*jetstream.StreamInfo) (string, any) {
	return func(*jetstream.StreamInfo) (string, any) { return key, value }
}

// rules are checked in this order. Rules without a repair come first, because they decide whether
// repairing makes sense.
var rules = []rule{
	{
		fit: func(b string, s *jetstream.StreamInfo) bool {
			return slices.Equal(s.Config.Subjects, []string{keyPrefix(b) + ">"}) &&
				s.Config.Retention == jetstream.LimitsPolicy &&
				s.Config.Mirror == nil && len(s.Config.Sources) == 0 && s.Config.SubjectTransform == nil &&
				!s.Config.Sealed && !s.Config.NoAck && !s.Config.AllowMsgCounter
		},
		fault: "its stream is not that of a plain KV bucket (a mirror, sources, a transform, counters, other subjects or " +
			"retention)",
		cure: recreateCure,
	},
	{
		// The last revision matters, and not the configured first one, because it decides what the
		// next epoch will be.
		fit:   func(_ string, s *jetstream.StreamInfo) bool { return s.State.LastSeq >= lowestRevision-1 },
		fault: "its revisions count from 1 (no FirstSeq), so epochs would repeat if it were deleted and recreated",
		cure:  recreateCure, adopt: true,
	},
	{
		fit: func(_ string, s *jetstream.StreamInfo) bool {
			return s.Config.FirstSeq > 0 || s.Config.Metadata[metaCreated] != "" || s.State.LastSeq < lowestRevision-1
		},
		fault: "it was not created as a bucket, and has the revisions of another one (a mirror that was promoted, " +
			"or a copy)",
		cure: adoptCure, adopt: true,
	},
	{
		fit: func(_ string, s *jetstream.StreamInfo) bool {
			return s.Config.PersistMode == jetstream.DefaultPersistMode
		},
		fault: "it acknowledges writes before they are stored (persist mode async)",
		cure:  recreateCure,
	},
	{
		fit: func(_ string, s *jetstream.StreamInfo) bool {
			f, found := s.Config.Metadata[metaFormat]
			v, err := strconv.Atoi(f)
			return !found || (err == nil && v == formatVersion)
		},
		fault: "its records have a format this version does not know",
		cure:  "upgrade this program",
	},
	{
		fit:    func(_ string, s *jetstream.StreamInfo) bool { return s.Config.MaxAge == 0 },
		fault:  "MaxAge removes records that are still needed",
		repair: set("max_age", 0),
	},
	{
		fit:    func(_ string, s *jetstream.StreamInfo) bool { return s.Config.MaxMsgsPerSubject == 1 },
		fault:  "history is not 1, so TTLs would be clamped",
		repair: set("max_msgs_per_subject", 1),
	},
	{
		fit:    func(_ string, s *jetstream.StreamInfo) bool { return s.Config.Discard == jetstream.DiscardNew },
		fault:  "discard policy old drops records when the bucket is full",
		repair: set("discard", "new"),
	},
	{
		fit:    func(_ string, s *jetstream.StreamInfo) bool { return s.Config.AllowRollup },
		fault:  "roll-ups are off, so there are no markers",
		repair: set("allow_rollup_hdrs", true),
	},
	{
		// The answer to a direct get is the bare record, and a request that names a record's
		// subject as its reply subject would store it there.
		fit: func(_ string, s *jetstream.StreamInfo) bool { return !s.Config.AllowDirect },
		fault: "direct gets are on: replicas that lag answer them, and a user who may write here and ask for one can " +
			"forge any record of the account",
		repair: set("allow_direct", false),
	},
	{
		fit:    func(_ string, s *jetstream.StreamInfo) bool { return s.Config.DenyDelete },
		fault:  "single messages can be deleted without a marker (DenyDelete is off)",
		repair: set("deny_delete", true),
	},
	{
		fit:    func(_ string, s *jetstream.StreamInfo) bool { return s.Config.AllowMsgTTL },
		fault:  "per-message TTLs are off (AllowMsgTTL)",
		repair: set("allow_msg_ttl", true),
	},
	{
		fit: func(_ string, s *jetstream.StreamInfo) bool {
			return s.Config.SubjectDeleteMarkerTTL >= 2*longestTTL(s)
		},
		fault: "markers of expired records are missing or too short-lived (SubjectDeleteMarkerTTL below twice the " +
			"longest TTL)",
		repair: func(s *jetstream.StreamInfo) (string, any) {
			return "subject_delete_marker_ttl", markerTTL(longestTTL(s))
		},
	},
	{
		fit:    func(_ string, s *jetstream.StreamInfo) bool { return s.Config.AllowAtomicPublish },
		fault:  "atomic batches are off (AllowAtomicPublish)",
		repair: set("allow_atomic", true),
	},
	{
		fit: func(_ string, s *jetstream.StreamInfo) bool {
			_, format := s.Config.Metadata[metaFormat]
			_, ok := maxTTL(&s.Config)
			return format && ok && s.Config.Metadata[metaID] != ""
		},
		fault: "the metadata does not hold the format version, the longest TTL and an id",
		repair: func(s *jetstream.StreamInfo) (string, any) {
			meta := map[string]string{
				metaFormat: strconv.Itoa(formatVersion),
				metaMaxTTL: strconv.FormatInt(longestTTL(s).Milliseconds(), 10),
				metaID:     repairedID(s),
			}
			for k, v := range s.Config.Metadata {
				if k != metaMaxTTL && (k != metaID || v != "") { // those that may be there and say nothing
					meta[k] = v
				}
			}
			return "metadata", meta
		},
	},
}

// longestTTL is L_max as the bucket has it, or would have it after a repair.
func longestTTL(s *jetstream.StreamInfo) time.Duration {
	if d, ok := maxTTL(&s.Config); ok {
		return d
	}
	return DefaultMaxTTL
}

// earlierFormat is the format of the records if that is an earlier one than this version reads,
// else 0.
func earlierFormat(s *jetstream.StreamInfo) int {
	if v, err := strconv.Atoi(s.Config.Metadata[metaFormat]); err == nil && v > 0 && v < formatVersion {
		return v
	}
	return 0
}

// ours reports whether the metadata say that the bucket was made for roles, in whichever format.
func ours(s *jetstream.StreamInfo) bool {
	_, found := s.Config.Metadata[metaFormat]
	return found
}

// ordinary reports whether it is a KV bucket that was made for other data. One that lacks the
// metadata and has high revisions is not taken for that: it may be a copy of one of ours.
func ordinary(s *jetstream.StreamInfo) bool { return !ours(s) && s.State.LastSeq < lowestRevision-1 }

// unfit is the error of a bucket with faults, nil without.
func unfit(at place, s *jetstream.StreamInfo, serverVersion string) error {
	f := faults(at, s, serverVersion)
	if len(f) == 0 {
		return nil
	}
	return &UnfitError{Bucket: at.bucket, Faults: f, Format: earlierFormat(s), Ordinary: ordinary(s)}
}

// faults lists the faults of the bucket at a place, each with its fix.
func faults(at place, s *jetstream.StreamInfo, serverVersion string) []string {
	if v := earlierFormat(s); v > 0 { // nothing else about it matters
		return []string{fmt.Sprintf("its records have format %d, and this version reads format %d: stop every process that "+
			"uses the bucket, delete it with \"nats kv del %s\", and recreate it with %q", v, formatVersion, at.bucket,
			Command(Config{
				Bucket: at.bucket, Replicas: s.Config.Replicas, Storage: s.Config.Storage, MaxTTL: longestTTL(s),
				MaxBytes: s.Config.MaxBytes, Reach: at.reach,
			}))}
	}
	if ordinary(s) { // each repair would be one of somebody's data
		return []string{"it is an ordinary KV bucket, was not made for rolemanager, and cannot be converted: " +
			fmt.Sprintf(anotherCure, at.reach.Flags())}
	}
	var out []string
	if f := tooOld(serverVersion); f != "" {
		out = append(out, f)
	}
	for _, r := range rules {
		if !r.fit(at.bucket, s) {
			out = append(out, r.text(at, ours(s)))
		}
	}
	return out
}

// text is the fault and its fix. The options of a command lead to this bucket, not to a namesake.
// Nobody is told to delete a bucket that is not ours.
func (r rule) text(at place, ours bool) string {
	cure := r.cure
	if r.repair != nil {
		cure = repairCure
	}
	if cure == recreateCure && !ours {
		return r.fault + ": " + fmt.Sprintf(anotherCure, at.reach.Flags())
	}
	if cure == repairCure || cure == recreateCure || cure == adoptCure {
		cure = fmt.Sprintf(cure, at.bucket+at.reach.Flags())
	}
	return r.fault + ": " + cure
}

// tooOld describes the fault of a server's version. It is "" when there is no fault, or when the
// version is unknown because the client is not connected. Atomic batches came with 2.12.
func tooOld(version string) string {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return ""
	}
	if major > 2 || (major == 2 && minor >= 12) {
		return ""
	}
	return fmt.Sprintf("the server has version %s: upgrade it to 2.12 or later", version)
}

// oldServer is tooOld as an error, for a bucket that does not exist yet.
func oldServer(bucket string, nc *nats.Conn) error {
	if f := tooOld(nc.ConnectedServerVersion()); f != "" {
		return &UnfitError{Bucket: bucket, Faults: []string{f}}
	}
	return nil
}
