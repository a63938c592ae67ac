// Package gather is the rule by which writes to a stream go alone or together. It has no I/O and no
// clock: its owner tells it what happens, and carries out what it says.
//
// A store that syncs each write stores a batch in little more than the time of one write, and a
// batch costs some milliseconds whatever its size. A store that does not sync is faster with one
// write after the other. Nobody tells which of the two a store is, so both ways are measured.
//
// An owner may have a form for many writes in one record. Then what goes together may be such a
// record, which is a batch in all that is said here but in G9.
//
// Invariants.
//   - G1 Writes go together only while as many, one by one, would take the store longer by a
//     quarter, by what was measured: among few the measure may be wrong by a sixth. Nearly all that
//     is measured is too long, since others write too: so a low one of the last times counts, of
//     both. A batch holds so many bytes, so it is asked about as many writes as fit into one.
//     There is no option.
//   - G2 While a batch is under way, nothing else that entered is: neither a second batch nor a
//     write that goes alone. So writes that go alone are answered before the first batch.
//   - G3 What enters while a batch is under way goes into the next one. Nothing waits while nothing
//     is under way, but for a part of a batch's time, for those that were in the last one.
//   - G4 A batch that was not stored says nothing about its writes. The owner halves it at most
//     [Halvings] times, and then sends its writes alone.
//   - G5 Where more than a twentieth of the last thousand writes were refused, all go alone: one
//     refusal undoes a batch.
//   - G6 After a batch without an answer, and where the store takes none, all go alone.
//   - G7 After a dear batch up to two more go, and measure again what one takes, before all go
//     alone: it may have waited behind what another owner had in flight. So G1 holds but for those.
//     They are tried again more and more rarely. Where batches become dear by less than a quarter
//     of a second, they go until nearly all of the last ones were.
//   - G8 While the pace of the store is not known, few go alone at once: so it is known soon, and
//     few are in flight when writes turn to batches. The others wait for that, but not for long.
//   - G9 What goes together goes as one record only while the price of a batch is known, and seems
//     to pay: what goes although it does not is to measure it again (G7). One write counts as one
//     record always. That record is much cheaper, and says nothing of the price. So a batch goes
//     now and then, and is measured: the outcomes of these writes' tasks go in batches. Since it is
//     answered sooner, few wait for the next one. So what went within the time of a batch counts
//     among those that wait. Where writes need several records, one after the other, or some
//     need a batch of their own, one batch goes if all that takes longer, by what such a record
//     took lately.
//   - G10 Some writes never go alone. A few of them wait after a batch for four times as long as it
//     took, and for a tenth of a second at most: a batch costs the store nearly the same, however
//     few are in it. Enough for a batch go at once.
package gather
