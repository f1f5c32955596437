/** Groups that have not ended, why their leases end, and the ledger of what became of all. */
@NullMarked
package io.troupe.core.run.group;

import org.jspecify.annotations.NullMarked;
