package io.troupe.config.task;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;

/** The keys of the place of a data set among others, and of the order of its prompts. */
@Doc("Name and order of a data set")
public record MixKeys(
    @Doc(
            "Name under which verifiers, limits and metrics know its prompts, put before their ids;"
                + " empty means the data set's name. The same data set can be listed twice under"
                + " two aliases.")
        @Default("")
        String alias,
    @Doc(
            "In a weighted mixture: how often the next prompt is this data set's, next to the other"
                + " weights.")
        @Default("1")
        @Range(min = 0, minExclusive = true, max = 1e9)
        double weight,
    @Doc(
            "Order file, local or `s3://`, one prompt id a line: its prompts are trained on in this"
                + " order in every epoch, and no others.")
        @Default("")
        @RelativeToFile
        String order,
    @Doc("Most ids of the order file that may match no prompt, as a share of all.")
        @Default("0.02")
        @Range(min = 0, max = 1)
        double orderUnmatchedShare,
    @Inline ChoiceKeys choice) {}
