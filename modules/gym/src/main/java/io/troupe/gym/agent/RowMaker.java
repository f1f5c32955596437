package io.troupe.gym.agent;

import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.TrainingRow;
import java.io.IOException;
import java.util.List;

/** Writes training rows of a subskill; a script, or a language model. */
public interface RowMaker {
  /**
   * The place in a gym where rows are made, for seeds and the reuse of answers.
   *
   * @param seed of the trial
   * @param trial place of the trial in the plan
   * @param iteration from 1
   */
  record Occasion(long seed, int trial, int iteration) {}

  /**
   * An order of rows.
   *
   * @param before rows of the subskill that earlier calls kept
   * @param errors some of the validation items that the student answers wrong
   */
  record RowOrder(
      String skill, String subskill, int before, int wanted, List<AnsweredItem> errors) {
    public RowOrder {
      errors = List.copyOf(errors);
    }
  }

  /**
   * Returns names of new subskills.
   *
   * @param known names that are not wanted again
   * @param wanted most names
   */
  List<String> subskills(Occasion occasion, String skill, List<String> known, int wanted)
      throws IOException;

  /**
   * Returns rows of a subskill, fewer than wanted if there are no more.
   *
   * @throws IOException if the maker cannot be asked
   */
  List<TrainingRow> rows(Occasion occasion, RowOrder order) throws IOException;

  /**
   * Returns rows that the maker thinks these errors need, fewer than wanted if there are no more.
   *
   * @param call number of the call in the proposal, from 0
   * @param order order under whose skill the rows are counted
   * @throws IOException if the maker cannot be asked
   */
  List<TrainingRow> against(Occasion occasion, int call, RowOrder order) throws IOException;

  /**
   * Returns how many of a number of tries at a row's problem give the row's answer; the maker does
   * not see the answer.
   */
  int solves(Occasion occasion, TrainingRow row, int tries) throws IOException;
}
