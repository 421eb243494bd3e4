package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"sibyl/internal/journal"
)

// usedRow is the usage of a model in the runs of a quarter of an hour, or in one run; or, with a status, a run whose
// usage is not kept.
type usedRow struct {
	journal.Uncounted
	status journal.Status
	runs   int
	journal.Used
}

func scanUsed(r row, u *usedRow) error {
	err := r.Scan(&u.Owner, &u.Run, &u.Assistant, &u.status, millis{&u.StartedAt}, &u.runs, &u.Model, &u.Input, &u.Cached,
		&u.Output)
	u.Ended = u.status != journal.Running
	return err
}

const (
	quarter = `started_at / 900000 * 900000` // of an hour, in milliseconds

	sumOfUsed = `CAST(sum(runs) AS bigint), model, CAST(sum(input) AS bigint), CAST(sum(cached) AS bigint),
		CAST(sum(output) AS bigint)`
	uncounted = `SELECT owner, id, assistant, status, started_at, 0, '', 0, 0, 0 FROM run
		WHERE owner = $1 AND started_at >= $2 AND started_at < $3 AND `
)

// UsedBetween implements journal.Store.
func (db *DB) UsedBetween(
	ctx context.Context, owner journal.Owner, from, to time.Time,
) (kept []journal.UsedAt, others []journal.Uncounted, err error) {
	rows, err := readRows(ctx, db, scanUsed, `
		SELECT '', '', '', '', `+quarter+`, `+sumOfUsed+` FROM used
		WHERE owner = $1 AND started_at >= $2 AND started_at < $3 GROUP BY `+quarter+`, model
		UNION ALL `+uncounted+`status = 'running'
		UNION ALL `+uncounted+`status <> 'running' AND counted = 0
		ORDER BY 5, 7`, string(owner), from.UnixMilli(), to.UnixMilli())
	for _, r := range rows {
		switch last := len(kept) - 1; {
		case r.status != "":
			others = append(others, r.Uncounted)
		case last >= 0 && kept[last].At.Equal(r.StartedAt):
			kept[last].Runs += r.runs
			kept[last].Used = append(kept[last].Used, r.Used)
		default:
			kept = append(kept, journal.UsedAt{At: r.StartedAt, Runs: r.runs, Used: []journal.Used{r.Used}})
		}
	}
	return kept, others, err
}

// UsedBy implements journal.Store.
func (db *DB) UsedBy(
	ctx context.Context, runs []journal.Key,
) (kept map[journal.Key][]journal.Used, others []journal.Uncounted, err error) {
	given, err := keysJSON(runs)
	if err != nil {
		return nil, nil, err
	}
	rows, err := readRows(ctx, db, scanUsed, `
		SELECT run.owner, run.id, assistant, CASE WHEN status <> 'running' AND counted = 1 THEN '' ELSE status END,
			run.started_at, coalesce(runs, 0), coalesce(model, ''), coalesce(input, 0), coalesce(cached, 0),
			coalesce(output, 0)
		FROM `+eachGiven+` JOIN run ON run.id = given.value ->> 1 AND run.owner = given.value ->> 0
		LEFT JOIN used ON used.owner = run.owner AND used.started_at = run.started_at AND used.run = run.no
		ORDER BY given.key, model`, given)
	kept = map[journal.Key][]journal.Used{}
	for _, r := range rows {
		switch {
		case r.status != "":
			others = append(others, r.Uncounted)
		case r.Model == "": // it used none
			kept[r.Key] = nil
		default:
			kept[r.Key] = append(kept[r.Key], r.Used)
		}
	}
	return kept, others, err
}

// KeepUsed implements journal.Store.
func (db *DB) KeepUsed(ctx context.Context, all map[journal.Key][]journal.Used) error {
	// in one order, so that two calls do not deadlock
	keys := slices.SortedFunc(maps.Keys(all), func(a, b journal.Key) int { return cmp.Compare(a.Run, b.Run) })
	return db.write(ctx, func(t *tx) error {
		for _, k := range keys {
			found, err := queryRows(t, scanValue[string], `
				UPDATE run SET counted = 1 WHERE id = $1 AND owner = $2 AND status <> 'running' AND counted = 0 RETURNING id`,
				k.Run, string(k.Owner))
			if err != nil {
				return err
			}
			if len(found) > 0 {
				t.addUsed(k.Owner, k.Run, all[k])
			}
		}
		return nil
	})
}

// addUsed adds the usage of a run that has been locked.
func (t *tx) addUsed(owner journal.Owner, run string, used []journal.Used) {
	for i, u := range journal.SumUsed(used...) {
		t.run(`
			INSERT INTO used (owner, started_at, run, model, runs, input, cached, output)
			SELECT owner, started_at, no, CAST($3 AS text), CAST($4 AS bigint), CAST($5 AS bigint), CAST($6 AS bigint),
				CAST($7 AS bigint)
			FROM run WHERE id = $1 AND owner = $2`,
			run, string(owner), u.Model, oneIf(i == 0), int64(u.Input), int64(u.Cached), int64(u.Output))
	}
}
