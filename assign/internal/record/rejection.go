package record

// UnknownEpoch is the reason for refusing a frame whose epoch has not come into view.
const UnknownEpoch = "unknown_epoch"

// Malformed is the reason for refusing data that is not a frame. The other reasons are verdicts of
// workers too.
const Malformed = "malformed"
