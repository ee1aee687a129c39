import pytest

from veneer.errors import Cancelled
from veneer.tasks import CancelToken


def test_a_token_lets_work_go_on_until_it_is_cancelled():
    token = CancelToken()
    token.check()
    assert not token.cancelled
    token.cancel()
    assert token.cancelled
    with pytest.raises(Cancelled):
        token.check()
